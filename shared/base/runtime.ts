import type { Clock } from './clock.ts';
import type { Random } from './random.ts';
import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';

/**
 * What every shell of an instance runs by, made once by the wiring and passed whole: where time and randomness come from,
 * and where metrics and log lines go. A test hands in its own.
 */
export interface Runtime {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly logger: Logger;
}
