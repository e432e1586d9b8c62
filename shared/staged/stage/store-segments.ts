import { backoffDelay } from '../../base/backoff.ts';
import { abortReason, sleep } from '../../base/clock.ts';
import { DeadlineError, toError } from '../../base/errors.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { NewSegment, StagingStore } from '../ports.ts';
import { StoreError } from '../../model/store.ts';

export interface Storing {
  readonly store: Pick<StagingStore, 'stage'>;
  readonly runtime: Pick<Runtime, 'clock' | 'random' | 'metrics'>;
}

/** Concurrent instances must not retry in step; a quarter either way keeps the mean. */
const RETRIES = { initialMillis: 50, maxMillis: 2000, jitter: 0.25 };

/** Nobody waits longer for one answer: the connection of an instance that was frozen may be dead without a word. */
const ATTEMPT_MILLIS = 15_000;

/**
 * Stores segments in one commit, again and again until it is told that they are there. Every attempt stores the same
 * segments under the same ids, so one whose answer was lost, or that is still on its way, does no harm.
 *
 * @param signal ends it, when nobody waits any more. Rejects with its reason, or with what is not to be tried again.
 * @param onTrouble told of every failure that is tried again.
 */
export const storeSegments = (
  segments: readonly NewSegment[],
  storing: Storing,
  signal: AbortSignal,
  onTrouble: (error: Error) => void,
): Promise<void> => persistently(() => tryOnce(segments, storing, signal), storing, signal, onTrouble);

/** Asks the store again and again, as long as what it answers is worth another attempt. */
export async function persistently<Result>(
  attempt: () => Promise<Result>,
  { runtime: { clock, random, metrics } }: Pick<Storing, 'runtime'>,
  signal: AbortSignal,
  onTrouble: (error: Error) => void,
): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw abortReason(signal);
      if (!isWorthAnother(error)) throw error;
      onTrouble(toError(error));
    }
    metrics.count('stagingRetries');
    await sleep(clock, backoffDelay(RETRIES, failures, random), signal);
  }
}

const isWorthAnother = (error: unknown): boolean =>
  error instanceof DeadlineError || (error instanceof StoreError && error.isTransient);

async function tryOnce(
  segments: readonly NewSegment[],
  { store, runtime: { clock } }: Storing,
  signal: AbortSignal,
): Promise<void> {
  const time = new AbortController();
  const cancel = clock.after(ATTEMPT_MILLIS, () => {
    time.abort(new DeadlineError(`Firestore did not answer a commit within ${ATTEMPT_MILLIS} ms`));
  });
  try {
    await store.stage(segments, AbortSignal.any([signal, time.signal]));
  } finally {
    cancel();
  }
}
