/** When sessions of slots end. Pure. */

const MINUTE_MILLIS = 60_000;

/** The second of a minute at which sessions end: ten seconds before the scheduler starts the next at the latest. */
const END_SECOND_MILLIS = 50_000;

/** A session that would be shorter than this ends at another minute than its own. */
const SHORTEST_MILLIS = 20_000;

/**
 * When a session ends, in milliseconds since the epoch: after `sessionMillis` at most, at second 50 of a minute of the
 * slot's own, so that the next attempt is seconds away and the slots do not end together. A session that starts too close
 * before its own minute ends at the last second 50 that its length allows. Sessions of less than a minute take their time.
 *
 * @param slot from 0.
 * @param startedAt milliseconds since the epoch.
 */
export function sessionEnd(slot: number, sessionMillis: number, startedAt: number): number {
  const latest = startedAt + sessionMillis;
  const minutes = Math.floor(sessionMillis / MINUTE_MILLIS);
  if (minutes === 0) return latest;
  const lastMinute = Math.floor((latest - END_SECOND_MILLIS) / MINUTE_MILLIS);
  const ownMinute = lastMinute - modulo(lastMinute - slot, minutes);
  return [ownMinute, lastMinute].map(endOf).find((end) => end - startedAt >= SHORTEST_MILLIS) ?? latest;
}

const endOf = (minute: number): number => minute * MINUTE_MILLIS + END_SECOND_MILLIS;

const modulo = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor;
