import type { Random } from '../../../shared/base/random.ts';
import { containsKey, isEmptyRange, type RowRange } from '../../../shared/model/row-range.ts';
import { ReadRowsResponse } from '../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { ReadRows, ReadRowsCall, RowKeySample, RowMessage, RowMessages } from '../../../shared/scan/ports.ts';

/** What goes wrong with a stream, drawn anew at each of its messages. */
export type StreamFault =
  /** It ends with a status that passes, perhaps in the middle of a row. */
  | 'cut'
  /** The service tells how far it has looked, and nothing else. */
  | 'scanned'
  /** The rest of the row comes anew from its beginning. */
  | 'reset';

export interface SimulatedTableOptions {
  readonly keys: readonly string[];
  readonly random: Random;
  /** Rows that the service will not read. */
  readonly oversized: ReadonlySet<string>;
  readonly fault: () => StreamFault | undefined;
  /** Takes what the service would refuse and a scan must never ask. */
  readonly onViolation: (violation: string) => void;
}

type Network = <Result>(effect: () => Result) => Promise<Result>;

/** A table as `ReadRows` and `SampleRowKeys` see it: sorted rows of one cell, and tablets that move. */
export class SimulatedTable {
  reads = 0;
  samplings = 0;
  /** Keys at which the table is cut. */
  #boundaries: readonly string[];
  readonly #options: SimulatedTableOptions;

  constructor(options: SimulatedTableOptions) {
    this.#options = options;
    this.#boundaries = this.#drawBoundaries();
  }

  /** Tablets split and merge: samples drift. */
  moveTablets(): void {
    this.#boundaries = this.#drawBoundaries();
  }

  sample(): readonly RowKeySample[] {
    this.samplings += 1;
    const keys = this.#boundaries.map((key, index) => ({
      key: Buffer.from(key),
      offsetBytes: BigInt(index + 1) * 1000n,
    }));
    return [...keys, { key: Buffer.alloc(0), offsetBytes: BigInt(keys.length + 1) * 1000n }];
  }

  /** As a process reads, which may die at every message. @param network takes each message there and back. */
  readRowsAs(network: Network): ReadRows {
    return (call) => {
      this.reads += 1;
      if (isEmptyRange(call.range)) this.#options.onViolation('ReadRows of a range that can hold no row');
      return new SimulatedRows(call, this.rowsIn(call.range), this.#options, network);
    };
  }

  rowsIn(range: RowRange): string[] {
    return this.#options.keys.filter((key) => containsKey(range, Buffer.from(key)));
  }

  #drawBoundaries(): string[] {
    const { keys, random } = this.#options;
    return keys.filter(() => random() < 0.2);
  }
}

/** The messages of one call: a few rows each, cut where it pleases. */
class SimulatedRows implements RowMessages {
  readonly #call: ReadRowsCall;
  readonly #rows: string[];
  readonly #options: SimulatedTableOptions;
  readonly #network: Network;
  #ended: RowMessage | undefined;

  constructor(call: ReadRowsCall, rows: string[], options: SimulatedTableOptions, network: Network) {
    this.#call = call;
    this.#rows = rows;
    this.#options = options;
    this.#network = network;
  }

  async next(): Promise<RowMessage> {
    if (this.#ended) return this.#ended;
    const message = await this.#network(() => this.#message());
    const isAborted = this.#call.signals.some((signal) => signal.aborted);
    return isAborted ? (this.#ended = failed('CANCELLED')) : message;
  }

  close(): Promise<void> {
    this.#ended ??= failed('CANCELLED');
    return Promise.resolve();
  }

  #message(): RowMessage {
    const { random, fault, oversized } = this.#options;
    const drawn = fault();
    if (drawn === 'cut') return (this.#ended = failed('UNAVAILABLE'));
    const first = this.#rows[0];
    if (first === undefined) return (this.#ended = { kind: 'finished' });
    if (drawn === 'scanned') {
      // Every row up to here was looked at, and none passed: there are none before the first.
      const before = Buffer.from(first).subarray(0, -1);
      const isInRange = containsKey(this.#call.range, before) && before.length > 0;
      if (isInRange) return messageOf({ chunks: [], lastScannedRowKey: before });
    }
    if (oversized.has(first)) {
      this.#ended = {
        kind: 'failed',
        status: { code: 'FAILED_PRECONDITION', message: 'the row is larger than the limit of 256 MiB' },
        oversizedKey: Buffer.from(first),
      };
      return this.#ended;
    }
    const count = 1 + Math.floor(random() * 4);
    const taken: string[] = [];
    while (taken.length < count && this.#rows[0] !== undefined && !oversized.has(this.#rows[0])) {
      taken.push(this.#rows.shift() as string);
    }
    const chunks = taken.flatMap((key) => [
      ...(drawn === 'reset' ? [chunkOf(key, undefined), { ...NO_CHUNK, rowStatus: RESET }] : []),
      chunkOf(key, COMMIT),
    ]);
    return messageOf({ chunks, lastScannedRowKey: Buffer.alloc(0) });
  }
}

const RESET = { $case: 'resetRow', value: true } as const;
const COMMIT = { $case: 'commitRow', value: true } as const;

const NO_CHUNK = {
  rowKey: Buffer.alloc(0),
  familyName: undefined,
  qualifier: undefined,
  timestampMicros: 0n,
  labels: [],
  value: Buffer.alloc(0),
  valueSize: 0,
};

const chunkOf = (key: string, rowStatus: typeof COMMIT | undefined) => ({
  ...NO_CHUNK,
  rowKey: Buffer.from(key),
  familyName: 'cf',
  qualifier: Buffer.from('q'),
  timestampMicros: 1000n,
  value: Buffer.from(`value of ${key}`),
  rowStatus,
});

const messageOf = (response: Pick<ReadRowsResponse, 'chunks' | 'lastScannedRowKey'>): RowMessage => ({
  kind: 'message',
  message: Buffer.from(ReadRowsResponse.encode({ ...ReadRowsResponse.decode(Buffer.alloc(0)), ...response }).finish()),
});

const failed = (code: 'CANCELLED' | 'UNAVAILABLE'): RowMessage => ({
  kind: 'failed',
  status: { code, message: 'simulated' },
});
