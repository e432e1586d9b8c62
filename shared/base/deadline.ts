import { onAbort } from './abort.ts';
import { abortReason, type Clock } from './clock.ts';
import { DeadlineError } from './errors.ts';

/** One invocation's time: a signal for every wait and RPC in it. `end()` frees the timer; call it in a `finally`. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch at which the signal aborts. */
  readonly at: number;
  end(): void;
}

/**
 * Starts an invocation's deadline: `budgetMillis` from now, the smaller of the function's timeout and the
 * subscription's acknowledgement deadline, less a margin to answer in. `consequence` says what becomes of the work.
 */
export function startDeadline(clock: Clock, budgetMillis: number, consequence = REDELIVERED): Deadline {
  const controller = new AbortController();
  const cancel = clock.after(budgetMillis, () => {
    controller.abort(new DeadlineError(`the invocation's ${budgetMillis} ms were used up; ${consequence}`));
  });
  return { signal: controller.signal, at: clock.now() + budgetMillis, end: cancel };
}

const REDELIVERED = 'the message is not acknowledged and will be redelivered';

/**
 * Runs `work` with a signal that aborts after `millis`, and with `signal`.
 *
 * @param what for the error that tells of the first: `a tick`.
 */
export async function within<Result>(
  clock: Clock,
  millis: number,
  what: string,
  work: (signal: AbortSignal) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  if (signal?.aborted) throw abortReason(signal);
  const controller = new AbortController();
  const cancel = clock.after(millis, () => {
    controller.abort(new DeadlineError(`${what} took longer than ${millis} ms`));
  });
  const forget =
    signal &&
    onAbort(signal, () => {
      controller.abort(abortReason(signal));
    });
  try {
    return await work(controller.signal);
  } finally {
    cancel();
    forget?.();
  }
}
