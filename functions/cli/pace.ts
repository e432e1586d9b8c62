import { sleep, type Clock } from '../../shared/base/clock.ts';

/** Lets so many units pass per second, evenly. Time lost is made up for by at most one second's worth at once. */
export interface Pace {
  /** Waits until `units` more may pass; rejects with the signal's reason when it aborts. */
  turn(units: number, signal: AbortSignal): Promise<void>;
}

/** Without a rate nothing waits. */
export function createPace(clock: Clock, perSecond: number | undefined): Pace {
  if (perSecond === undefined) return { turn: () => Promise.resolve() };
  let freeAt = clock.now();
  return {
    async turn(units, signal) {
      freeAt = Math.max(freeAt, clock.now() - 1_000);
      const wait = freeAt - clock.now();
      freeAt += (units / perSecond) * 1_000;
      if (wait > 0) await sleep(clock, wait, signal);
    },
  };
}
