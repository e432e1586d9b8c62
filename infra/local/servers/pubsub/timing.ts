import type { Clock } from '../../../../shared/base/clock.ts';

/** Time as the server lives it: the clock, and how much faster than the service its deadlines and backoffs run. */
export interface Timing {
  readonly clock: Clock;
  /** Milliseconds of the service as milliseconds here: divided by the time scale. */
  shrink(serviceMillis: number): number;
}

/** @param timeScale at least 1 runs faster than the service; 0 < scale < 1 runs slower. */
export function createTiming(clock: Clock, timeScale: number): Timing {
  if (!(timeScale > 0 && Number.isFinite(timeScale))) {
    throw new RangeError(`timeScale: must be a finite number above 0, got ${timeScale}`);
  }
  return { clock, shrink: (serviceMillis) => serviceMillis / timeScale };
}
