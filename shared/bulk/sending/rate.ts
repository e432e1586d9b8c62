import type { RateLimit } from '../answer.ts';

/**
 * How fast one instance of Bigtable may be written to. Pure: state, event and `now` in, state out.
 *
 * Without a word from the service there is no limit. `RateLimitInfo` multiplies the rate in use by its factor, once
 * per period. `RESOURCE_EXHAUSTED`, for services that send no such word, halves it at most once a second; every second
 * without one adds a twentieth, until the limit is above what is asked for and is lifted. Additive increase,
 * multiplicative decrease, as in TCP.
 */
export interface RateState {
  /** Entries a second; undefined without a limit. */
  readonly perSecond?: number;
  /** When the next batch may leave. */
  readonly nextAt: number;
  /** The limit is not changed before. */
  readonly heldUntil: number;
  /** Entries sent since `windowStart`, from which the rate in use is measured. */
  readonly windowStart: number;
  readonly windowEntries: number;
  /** The rate measured over the last whole window. */
  readonly measured: number;
}

/** The service's factors are bounded as the other clients bound them: one word changes the rate by at most 30 %. */
const MIN_FACTOR = 0.7;
const MAX_FACTOR = 1.3;
const DECREASE = 0.5;
const INCREASE_SHARE = 0.05;
const WINDOW_MILLIS = 1000;
/** Nothing is throttled below this many entries a second: a stuck limit must not look like an outage. */
const MIN_PER_SECOND = 1;

export const unlimited = (now: number): RateState => ({
  nextAt: now,
  heldUntil: now,
  windowStart: now,
  windowEntries: 0,
  measured: 0,
});

/** How long a batch must wait now, in milliseconds. */
export const waitMillis = (state: RateState, now: number): number => Math.max(0, state.nextAt - now);

/** A batch of `entries` leaves. */
export function afterSend(state: RateState, entries: number, now: number): RateState {
  const rolled = rollWindow(state, now);
  const sent = { ...rolled, windowEntries: rolled.windowEntries + entries };
  if (sent.perSecond === undefined) return sent;
  // The bucket is one batch deep: what was not used while idle is not made up for.
  return { ...sent, nextAt: Math.max(sent.nextAt, now) + (entries / sent.perSecond) * 1000 };
}

/** The service asked for another rate. */
export function afterRateLimit(state: RateState, { factor, periodMillis }: RateLimit, now: number): RateState {
  if (now < state.heldUntil || !(factor > 0)) return state;
  const bounded = Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, factor));
  // A word of "faster" to a sink without a limit asks for nothing.
  if (state.perSecond === undefined && bounded >= 1) return state;
  return {
    ...state,
    perSecond: atLeast((state.perSecond ?? inUse(state, now)) * bounded),
    heldUntil: now + periodMillis,
  };
}

/** The service was out of resources. */
export function afterExhausted(state: RateState, now: number): RateState {
  if (now < state.heldUntil) return state;
  return {
    ...state,
    perSecond: atLeast((state.perSecond ?? inUse(state, now)) * DECREASE),
    heldUntil: now + WINDOW_MILLIS,
  };
}

/** A request was answered without complaint: after a quiet second the limit grows, and ends once nothing reaches it. */
export function afterQuiet(state: RateState, now: number): RateState {
  if (state.perSecond === undefined || now < state.heldUntil) return state;
  const grown = state.perSecond * (1 + INCREASE_SHARE);
  const isReached = Math.max(state.measured, inUse(state, now)) > state.perSecond / 2;
  if (!isReached) return withoutLimit(state, now);
  return { ...state, perSecond: grown, heldUntil: now + WINDOW_MILLIS };
}

const withoutLimit = ({ heldUntil, windowStart, windowEntries, measured }: RateState, now: number): RateState => ({
  nextAt: now,
  heldUntil,
  windowStart,
  windowEntries,
  measured,
});

function rollWindow(state: RateState, now: number): RateState {
  const elapsed = now - state.windowStart;
  if (elapsed < WINDOW_MILLIS) return state;
  return { ...state, measured: (state.windowEntries / elapsed) * 1000, windowStart: now, windowEntries: 0 };
}

/** Entries a second of the present window, or of the last one while the present is too short to tell. */
function inUse(state: RateState, now: number): number {
  const elapsed = now - state.windowStart;
  return elapsed < WINDOW_MILLIS / 4 && state.measured > 0
    ? state.measured
    : (state.windowEntries / Math.max(elapsed, WINDOW_MILLIS / 4)) * 1000;
}

const atLeast = (perSecond: number): number => Math.max(MIN_PER_SECOND, perSecond);
