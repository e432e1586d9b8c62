import { backoffDelay } from '../../base/backoff.ts';
import { DeadlineError } from '../../base/errors.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedWriterOptions } from '../../config/resolved.ts';

/** How long calls of the table admin API are waited for, and when they are made again. */

export type Recovery = Pick<ResolvedWriterOptions, 'recoveryInitialBackoffMillis' | 'recoveryMaxBackoffMillis'>;

/** One use of the API, with all its calls. A creation that takes longer goes on without us; the next ensure finds the table. */
const ADMIN_TIMEOUT_MILLIS = 30_000;

/** Instances that start against the same fresh table must not come back in step; a quarter either way keeps the mean. */
const RECOVERY_JITTER = 0.25;

/** When to try again after failed attempt number `attempt`, by the clock. */
export function recoverAt(recovery: Recovery, attempt: number, { clock, random }: Runtime): number {
  const schedule = {
    initialMillis: recovery.recoveryInitialBackoffMillis,
    maxMillis: recovery.recoveryMaxBackoffMillis,
    jitter: RECOVERY_JITTER,
  };
  return clock.now() + backoffDelay(schedule, attempt, random);
}

/** Runs a use of the API, which its signal ends when it takes too long. */
export async function inAdminTime<Result>(
  { clock }: Runtime,
  use: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const cancel = clock.after(ADMIN_TIMEOUT_MILLIS, () => {
    controller.abort(new DeadlineError(`the table admin API did not finish within ${ADMIN_TIMEOUT_MILLIS} ms`));
  });
  try {
    return await use(controller.signal);
  } finally {
    cancel();
  }
}
