import { type Bound, formatRange } from '../../shared/model/row-range.ts';
import type { Status } from '../../shared/model/status.ts';
import type { ReadRowsCall, RowMessage, RowMessages } from '../../shared/scan/ports.ts';
import { type Chunk, rowsMessage } from './row-chunks.ts';

/** What a scripted `ReadRows` answers; `silence` lasts until the call is cancelled. */
export type Reply = RowMessage | 'silence';

export const rowsOf = (...keys: readonly string[]): RowMessage => ({
  kind: 'message',
  message: rowsMessage(keys.map((key): Chunk => ({ key, family: 'f', qualifier: 'q', value: 'v', status: 'commit' }))),
});

export const chunksOf = (...chunks: readonly Chunk[]): RowMessage => ({
  kind: 'message',
  message: rowsMessage(chunks),
});

export const scannedTo = (key: string): RowMessage => ({ kind: 'message', message: rowsMessage([], key) });

export const finished: RowMessage = { kind: 'finished' };

export const failedWith = (code: Status['code'], message = 'for the test'): RowMessage => ({
  kind: 'failed',
  status: { code, message },
});

export const oversizedAt = (key: string): RowMessage => ({
  kind: 'failed',
  status: { code: 'FAILED_PRECONDITION', message: 'row too large' },
  oversizedKey: Buffer.from(key),
});

const CANCELLED = failedWith('CANCELLED', 'the read was closed');

/** `ReadRows` from a script: each opening takes the next list of replies; without one left it fails the test. */
export class ScriptedReadRows {
  readonly calls: ReadRowsCall[] = [];
  /** Of each call, whether it was closed as silent, closed, or is open. */
  readonly closings: ('open' | 'closed' | 'silent')[] = [];
  /** Messages that were asked for. */
  asked = 0;
  readonly #script: (readonly Reply[])[];

  constructor(...script: readonly (readonly Reply[])[]) {
    this.#script = [...script];
  }

  get ranges(): string[] {
    return this.calls.map(({ range }) => formatRange(range));
  }

  /** Bounds of calls that hold an empty key, which would be none on the wire. */
  get emptyKeys(): number {
    const isEmpty = (bound: Bound): boolean => bound.kind !== 'unbounded' && bound.key.length === 0;
    return this.calls.filter(({ range }) => isEmpty(range.start) || isEmpty(range.end)).length;
  }

  readonly open = (call: ReadRowsCall): RowMessages => {
    const replies = this.#script.shift();
    if (!replies) throw new Error(`ReadRows was opened once more, over ${formatRange(call.range)}`);
    const index = this.calls.push(call) - 1;
    this.closings.push('open');
    let at = 0;
    let end: RowMessage | undefined;
    const cut = Promise.withResolvers<RowMessage>();
    const cancel = (): void => {
      end ??= CANCELLED;
      cut.resolve(CANCELLED);
    };
    for (const signal of call.signals) signal.addEventListener('abort', cancel, { once: true });
    return {
      next: () => {
        this.asked += 1;
        if (end) return Promise.resolve(end);
        const reply = replies[at] ?? 'silence';
        at += 1;
        if (reply === 'silence') return cut.promise;
        if (reply.kind !== 'message') end = reply;
        return Promise.resolve(reply);
      },
      close: (isSilent = false) => {
        if (this.closings[index] === 'open') this.closings[index] = isSilent ? 'silent' : 'closed';
        cancel();
        return Promise.resolve();
      },
    };
  };
}
