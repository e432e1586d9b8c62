import type { Clock } from '../../../shared/base/clock.ts';

/**
 * A clock that is right when it is made and runs faster from then on: what a server in this process goes by, beside functions
 * whose clocks run faster too.
 *
 * @param factor at least 1.
 */
export function acceleratedClock(clock: Clock, factor: number): Clock {
  if (!(factor >= 1 && Number.isFinite(factor))) {
    throw new RangeError(`the factor of a faster clock must be a finite number from 1, got ${factor}`);
  }
  const since = clock.now();
  const origin = clock.monotonic();
  return {
    now: () => Math.floor(since + (clock.now() - since) * factor),
    monotonic: () => origin + (clock.monotonic() - origin) * factor,
    after: (delayMillis, callback) => clock.after(delayMillis / factor, callback),
    soon: (callback) => {
      clock.soon(callback);
    },
  };
}
