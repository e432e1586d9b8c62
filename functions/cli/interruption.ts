import { abortable } from '../../shared/base/abort.ts';
import { abortReason, type Clock } from '../../shared/base/clock.ts';
import { EXIT, InterruptedError, type ExitCode } from './errors.ts';

/**
 * How a command ends when it is told to: it begins nothing more, what is on its way has a moment to be confirmed, what
 * is leased is given back, and within a second of the signal the command is over, whoever has not answered by then.
 */

/** Milliseconds after the signal: for confirmations, for giving back, for everything. */
const [CONFIRM_MILLIS, GIVE_BACK_MILLIS, LIMIT_MILLIS] = [350, 700, 850];

/** Each aborts in its turn once the command is told to end, and never before. */
export interface Ending {
  /** Nothing that was sent is waited for any longer. */
  readonly confirming: AbortSignal;
  /** Leases are not given back, and connections not closed, any longer. */
  readonly givingBack: AbortSignal;
  /** The command is over. */
  readonly limit: AbortSignal;
}

export function endingAfter(signal: AbortSignal, clock: Clock): Ending {
  const [confirming, givingBack, limit] = [new AbortController(), new AbortController(), new AbortController()];
  const begin = (): void => {
    for (const [controller, millis] of [
      [confirming, CONFIRM_MILLIS],
      [givingBack, GIVE_BACK_MILLIS],
      [limit, LIMIT_MILLIS],
    ] as const) {
      clock.after(millis, () => {
        controller.abort(abortReason(signal));
      });
    }
  };
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return { confirming: confirming.signal, givingBack: givingBack.signal, limit: limit.signal };
}

/** The exit code of a command that `signal` ended. */
export function interruptedExit(signal: AbortSignal): ExitCode {
  const reason = abortReason(signal);
  return reason instanceof InterruptedError ? reason.exitCode : EXIT.interrupted;
}

/** Waits for the end of something whose end decides nothing more: a command that is told to end goes without it. */
export async function closed(closing: Promise<void>, { givingBack }: Ending): Promise<void> {
  try {
    await abortable(closing, givingBack);
  } catch (error) {
    if (!givingBack.aborted) throw error;
  }
}

/**
 * The chunks as they come; rejects with the reason of `signal` as soon as that aborts, also where none comes. The source
 * is left as it is then, because one that is waited for cannot be told to end: the process ends it.
 */
export async function* untilAborted(chunks: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await abortable(source.next(), signal);
      isOver = next.done === true;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    if (!isOver && !signal.aborted) await source.return?.();
  }
}
