import { backoffDelay } from '../../../../../shared/base/backoff.ts';

/** How long things wait after a failure, as the service documents it. Pure: state and `now` in, state out. */

/** A subscription's retry policy, in milliseconds of the server's time. */
export interface RetryDelays {
  readonly minimumMillis: number;
  readonly maximumMillis: number;
}

/** The delay before a message is delivered again after its `attempts`-th delivery failed. Without a policy: at once. */
export function retryDelay(policy: RetryDelays | undefined, attempts: number): number {
  if (policy === undefined || policy.minimumMillis === 0) return 0;
  return backoffDelay(
    { initialMillis: policy.minimumMillis, maxMillis: policy.maximumMillis, jitter: 0 },
    attempts,
    noRandom,
  );
}

const noRandom = (): number => 0.5;

/** The service's push backoff: per subscription, on top of the retry policy, neither tunable nor avoidable. */
export interface PushBackoff {
  /** The length of the last pause, decayed by acknowledgements since; 0 when they made up for it. */
  readonly levelMillis: number;
  /** No push starts before this time. Milliseconds since the epoch. */
  readonly pausedUntil: number;
}

export interface PushBackoffBounds {
  readonly minMillis: number;
  readonly maxMillis: number;
}

/** cloud.google.com/pubsub/docs/handling-failures#push_backoff */
export const PUSH_BACKOFF_BOUNDS: PushBackoffBounds = { minMillis: 100, maxMillis: 60_000 };

export const NO_PUSH_BACKOFF: PushBackoff = { levelMillis: 0, pausedUntil: 0 };

/**
 * Four acknowledgements undo one refusal. The documented example holds a subscription that refuses one message in
 * five at a steady pause of about half a second, and drives one that refuses all of them to a minute.
 */
const DECAY_PER_ACKNOWLEDGEMENT = 2 ** (-1 / 4);

/** Pauses all pushes: twice as long as the last pause, within the bounds. */
export function afterRefusal(state: PushBackoff, bounds: PushBackoffBounds, now: number): PushBackoff {
  const levelMillis = Math.min(Math.max(bounds.minMillis, state.levelMillis * 2), bounds.maxMillis);
  return { levelMillis, pausedUntil: now + levelMillis };
}

export function afterAcknowledgement(state: PushBackoff, bounds: PushBackoffBounds): PushBackoff {
  const decayed = state.levelMillis * DECAY_PER_ACKNOWLEDGEMENT;
  return { ...state, levelMillis: decayed < bounds.minMillis ? 0 : decayed };
}
