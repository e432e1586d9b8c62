import { systemClock } from '../../shared/base/clock.ts';
import { ManualClock } from './manual-clock.ts';

/** Time that a test moves, beside real sockets: timers wait for `advance`, what is ready runs by itself. */
export class SteppedClock extends ManualClock {
  override soon(callback: () => void): void {
    systemClock.soon(callback);
  }
}
