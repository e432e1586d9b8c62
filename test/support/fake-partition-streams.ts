import { onAbort } from '../../shared/base/abort.ts';
import type { Position } from '../../shared/change-stream/ledger/partition.ts';
import type { PartitionStream, StreamEvent, StreamSuccessor } from '../../shared/change-stream/reading/ports.ts';
import type { Change } from '../../shared/model/change.ts';
import type { RowRange } from '../../shared/model/row-range.ts';

/** The low watermark of a test's numbers: seconds, in nanoseconds. */
export const at = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n;

/** A change whose row is its text; its token is `t` and the number behind it. */
export const change = (row: string, number: number, more: Partial<Change> = {}): StreamEvent => ({
  kind: 'change',
  change: {
    rowKey: Buffer.from(row),
    type: 'USER',
    sourceCluster: 'c',
    commitTime: at(number),
    tieBreaker: 0,
    token: `t${number}`,
    lowWatermark: at(number),
    entries: [],
    bytes: 100,
    ...more,
  },
});

export const heartbeat = (number: number): StreamEvent => ({
  kind: 'heartbeat',
  token: `t${number}`,
  lowWatermark: at(number),
});

/** The end time is reached. */
export const reachedEnd: StreamEvent = {
  kind: 'close',
  isEnd: true,
  status: { code: 'OK', message: '' },
  successors: [],
};

/** The partition became others. */
export const closeInto = (...successors: readonly { range: RowRange; token: string }[]): StreamEvent =>
  closeWith(successors.map(({ range, token }) => ({ target: range, token: { range, token } })));

/** The same, with parts of partitions. */
export const closeWith = (successors: readonly StreamSuccessor[]): StreamEvent => ({
  kind: 'close',
  isEnd: false,
  status: { code: 'OUT_OF_RANGE', message: 'the partition moved' },
  successors,
});

/** One stream of a partition that a test feeds: with events, and with an error at most, which ends it. */
export class FakeStream implements PartitionStream {
  readonly range: RowRange;
  readonly position: Position;
  /** Events that it was asked for, the one that is waited for included. */
  asked = 0;
  isClosed = false;
  readonly #signal: AbortSignal;
  readonly #fed: (StreamEvent | Error)[] = [];
  #look: () => void = () => undefined;

  constructor(range: RowRange, position: Position, signal: AbortSignal) {
    this.range = range;
    this.position = position;
    this.#signal = signal;
  }

  get isStopped(): boolean {
    return this.#signal.aborted;
  }

  feed(...events: readonly (StreamEvent | Error)[]): void {
    this.#fed.push(...events);
    this.#look();
  }

  async next(): Promise<StreamEvent | undefined> {
    this.asked += 1;
    while (this.#fed.length === 0 && !this.isStopped) {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const look = (): void => {
        resolve(undefined);
      };
      this.#look = look;
      const forget = onAbort(this.#signal, look);
      await promise;
      forget();
    }
    const next = this.#fed[0];
    if (next instanceof Error) throw next;
    if (this.isStopped) return undefined;
    this.#fed.shift();
    return next;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}
