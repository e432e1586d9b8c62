import { formatRange } from '../../shared/model/row-range.ts';
import type { Status } from '../../shared/model/status.ts';
import type { ChangeMessage, ChangeMessages, ReadChangeStreamCall } from '../../shared/change-stream/reading/ports.ts';

/** What a scripted `ReadChangeStream` answers; `silence` lasts until the call is cancelled. */
export type Reply = ChangeMessage | 'silence';

export const messageOf = (message: Buffer): ChangeMessage => ({ kind: 'message', message });

export const finished: ChangeMessage = { kind: 'finished' };

export const failedWith = (code: Status['code'], message = 'for the test'): ChangeMessage => ({
  kind: 'failed',
  status: { code, message },
});

const CANCELLED = failedWith('CANCELLED', 'the read was closed');

/** `ReadChangeStream` from a script: each opening takes the next list of replies; without one left it fails the test. */
export class ScriptedChangeStream {
  readonly calls: ReadChangeStreamCall[] = [];
  /** Of each call, whether it was closed as silent, closed, or is open. */
  readonly closings: ('open' | 'closed' | 'silent')[] = [];
  /** Messages that were asked for. */
  asked = 0;
  readonly #script: (readonly Reply[])[];

  constructor(...script: readonly (readonly Reply[])[]) {
    this.#script = [...script];
  }

  /** Where each call began. */
  get positions(): string[] {
    return this.calls.map(({ position: { tokens, lowWatermark } }) =>
      tokens.length === 0
        ? `from ${lowWatermark}`
        : tokens.map(({ range, token }) => `${formatRange(range)} ${token}`).join(' and '),
    );
  }

  readonly open = (call: ReadChangeStreamCall): ChangeMessages => {
    const replies = this.#script.shift();
    if (!replies) throw new Error(`ReadChangeStream was opened once more, over ${formatRange(call.range)}`);
    const index = this.calls.push(call) - 1;
    this.closings.push('open');
    let at = 0;
    let end: ChangeMessage | undefined;
    const cut = Promise.withResolvers<ChangeMessage>();
    const cancel = (): void => {
      // What ended before is not cancelled.
      const next = replies[at];
      end ??= next !== undefined && next !== 'silence' && next.kind === 'failed' ? next : CANCELLED;
      cut.resolve(end);
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
