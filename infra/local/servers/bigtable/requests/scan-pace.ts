import { type Clock, sleep } from '../../../../../shared/base/clock.ts';

/** Shorter waits are saved up: a timer for each row would be late at each. */
const SHORTEST_WAIT_MILLIS = 20;

/**
 * How fast one stream gives rows. Time that the reader did not ask in is not caught up with: a stream that was held up goes
 * on at its pace.
 *
 * @returns what to wait for before the next row, when `sent` rows are gone; undefined: it may go at once.
 */
export function scanPace(
  rowsPerSecond: number,
  clock: Clock,
  signal: AbortSignal,
): (sent: number) => Promise<void> | undefined {
  const stepMillis = 1000 / rowsPerSecond;
  let startedAt = clock.now();
  return (sent) => {
    const aheadMillis = startedAt + sent * stepMillis - clock.now();
    if (aheadMillis < -SHORTEST_WAIT_MILLIS) startedAt -= aheadMillis;
    return aheadMillis < SHORTEST_WAIT_MILLIS ? undefined : sleep(clock, aheadMillis, signal);
  };
}
