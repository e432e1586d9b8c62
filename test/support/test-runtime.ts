import { createLogger } from '../../shared/base/logging.ts';
import { createMetrics } from '../../shared/base/metrics.ts';
import type { Runtime } from '../../shared/base/runtime.ts';
import { ManualClock } from './manual-clock.ts';
import { seededRandom } from './seeded-random.ts';

/** A runtime of its own: a clock that nobody moves, seeded randomness, new metrics and a silent log, but for what is given. */
export const testRuntime = <Given extends Partial<Runtime>>(given: Given): Runtime & Given => ({
  clock: new ManualClock(),
  random: seededRandom(1),
  metrics: createMetrics(),
  logger: createLogger({}, () => undefined),
  ...given,
});
