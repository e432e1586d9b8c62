import { createLogger } from '../../shared/base/logging.ts';
import { createMetrics, type MetricsRegistry } from '../../shared/base/metrics.ts';
import type { Runtime } from '../../shared/base/runtime.ts';
import { ManualClock } from './manual-clock.ts';

/** A {@link Runtime} of a test, with what it collects. */
export interface TestRuntime<Time extends Runtime['clock'] = ManualClock> extends Runtime {
  readonly clock: Time;
  readonly metrics: MetricsRegistry;
  /** The log, line by line. */
  readonly lines: string[];
}

/** What a test hands in itself. */
type Given = Partial<Pick<Runtime, 'random' | 'logger'> & Pick<TestRuntime, 'metrics'>>;

/** The middle of every jitter, metrics and a log of its own, a clock that the test moves, but for what is given. */
export function testRuntime(given?: Given): TestRuntime;
export function testRuntime<Time extends Runtime['clock']>(given: Given & { readonly clock: Time }): TestRuntime<Time>;
export function testRuntime({
  clock = new ManualClock(),
  random = () => 0.5,
  metrics = createMetrics(),
  ...given
}: Given & Partial<Pick<Runtime, 'clock'>> = {}) {
  const lines: string[] = [];
  const logger = given.logger ?? createLogger({}, (line) => lines.push(line));
  return { clock, random, metrics, logger, lines };
}
