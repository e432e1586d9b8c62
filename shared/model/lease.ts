/** A claim that ends by itself. Times are milliseconds since the epoch. */
export interface Lease {
  /** Empty: nobody's. */
  readonly owner: string;
  /** Grows by one with every new owner; a write that names an older one is refused. */
  readonly epoch: number;
  readonly expiresAt: number;
}

/** How far the clocks of two instances are expected to be apart. */
export const CLOCK_SKEW_MILLIS = 2000;

/** An end that lies further ahead than its lease is long was written by a clock that cannot be followed. */
const IMPLAUSIBLE_SKEW_MILLIS = 60_000;

/**
 * Whether a claim of at most `longestMillis` has run out, with an allowance for clocks that differ. A claim that ends
 * more than a minute later than it could by our own clock has run out too: otherwise one wrong clock would hold work
 * for as long as it is wrong. Either way the fence of whoever writes next decides, never the clock.
 */
export const hasRunOut = (expiresAt: number, now: number, longestMillis: number): boolean =>
  now > expiresAt + CLOCK_SKEW_MILLIS || expiresAt > now + longestMillis + IMPLAUSIBLE_SKEW_MILLIS;
