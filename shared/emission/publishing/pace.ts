/**
 * How much of its full pace a publisher may use. Pure: state, event and `now` in, state out. RESOURCE_EXHAUSTED halves the
 * share at most once a second; every second in which something was confirmed and nothing refused for it gives a
 * twentieth of the full pace back. Additive increase, multiplicative decrease, as in TCP.
 */
export interface Pace {
  /** Of requests at once, and of the size of each: above 0, at most 1. */
  readonly share: number;
  /** The share is not changed before. */
  readonly heldUntil: number;
}

const DECREASE = 0.5;
const INCREASE = 0.05;
const HOLD_MILLIS = 1000;
/** A stuck pace must not look like an outage. */
const MIN_SHARE = 1 / 64;

export const FULL_PACE: Pace = { share: 1, heldUntil: 0 };

export function afterExhausted(pace: Pace, now: number): Pace {
  if (now < pace.heldUntil) return pace;
  return { share: Math.max(MIN_SHARE, pace.share * DECREASE), heldUntil: now + HOLD_MILLIS };
}

export function afterConfirmed(pace: Pace, now: number): Pace {
  if (pace.share === 1 || now < pace.heldUntil) return pace;
  return { share: Math.min(1, pace.share + INCREASE), heldUntil: now + HOLD_MILLIS };
}

/** The share of a whole number, at least 1. */
export const shareOf = ({ share }: Pace, full: number): number => Math.max(1, Math.floor(full * share));
