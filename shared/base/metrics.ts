import type { Clock } from './clock.ts';
import type { Logger } from './logging.ts';
import type { CounterName, DistributionName, GaugeName } from './metric-catalogue.ts';
import { quantileOf, sortedNumbers } from './quantile.ts';

/** The instruments of one pipeline in one instance. Cheap enough for the path of every record. */
export interface Metrics {
  /** Adds to a counter. A labelled counter takes the value of its one label. */
  count(name: CounterName, by?: number, label?: string): void;
  record(name: DistributionName, value: number): void;
  /** Registers the reader of a gauge; it is asked at every flush. */
  observe(name: GaugeName, read: () => number): void;
}

/** What a distribution says of one flush. Quantiles come from the kept sample, all else is exact. */
export interface DistributionSummary {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly p50: number;
  readonly p95: number;
}

export interface MetricsSnapshot {
  /** Increments since the snapshot before. */
  readonly counters: Readonly<Record<string, number>>;
  readonly labelled: readonly { readonly metric: CounterName; readonly label: string; readonly value: number }[];
  readonly gauges: Readonly<Record<string, number>>;
  readonly distributions: Readonly<Record<string, DistributionSummary>>;
}

export interface MetricsRegistry extends Metrics {
  /** Reads everything and starts the counters and distributions over. */
  snapshot(): MetricsSnapshot;
}

/** Values of a distribution kept for its quantiles: beyond it every further value replaces an older one in turn. */
const KEPT_VALUES = 512;

interface Distribution {
  count: number;
  sum: number;
  min: number;
  max: number;
  readonly kept: number[];
}

export function createMetrics(): MetricsRegistry {
  let counters = new Map<CounterName, number>();
  let labelled = new Map<CounterName, Map<string, number>>();
  let distributions = new Map<DistributionName, Distribution>();
  const gauges = new Map<GaugeName, () => number>();

  return {
    count(name, by = 1, label) {
      if (label === undefined) {
        counters.set(name, (counters.get(name) ?? 0) + by);
        return;
      }
      let series = labelled.get(name);
      if (!series) labelled.set(name, (series = new Map<string, number>()));
      series.set(label, (series.get(label) ?? 0) + by);
    },
    record(name, value) {
      const known = distributions.get(name);
      if (!known) {
        distributions.set(name, { count: 1, sum: value, min: value, max: value, kept: [value] });
        return;
      }
      known.kept[known.count % KEPT_VALUES] = value;
      known.count += 1;
      known.sum += value;
      known.min = Math.min(known.min, value);
      known.max = Math.max(known.max, value);
    },
    observe(name, read) {
      gauges.set(name, read);
    },
    snapshot() {
      const snapshot: MetricsSnapshot = {
        counters: Object.fromEntries(counters),
        labelled: [...labelled].flatMap(([metric, series]) =>
          [...series].map(([label, value]) => ({ metric, label, value })),
        ),
        gauges: Object.fromEntries([...gauges].map(([name, read]) => [name, read()])),
        distributions: Object.fromEntries([...distributions].map(([name, values]) => [name, summarize(values)])),
      };
      counters = new Map();
      labelled = new Map();
      distributions = new Map();
      return snapshot;
    },
  };
}

function summarize({ count, sum, min, max, kept }: Distribution): DistributionSummary {
  const sorted = sortedNumbers(kept);
  return { count, sum, min, max, p50: quantileOf(sorted, 0.5) ?? 0, p95: quantileOf(sorted, 0.95) ?? 0 };
}

/** Writes snapshots as log lines, from which log-based metrics are made. Survives SIGKILL up to the last flush. */
export interface MetricsExporter {
  /** Writes if the last flush is at least `flushIntervalMillis` old. Called at the end of invocations; never waits. */
  flushIfDue(): void;
  /** Writes now: at drain. */
  flush(): void;
}

/** One line with all unlabelled metrics, then one line per labelled series. Nothing is written where nothing happened. */
export function createLogExporter(
  registry: MetricsRegistry,
  logger: Logger,
  clock: Clock,
  flushIntervalMillis: number,
): MetricsExporter {
  let lastFlush = clock.now();
  const flush = (): void => {
    lastFlush = clock.now();
    const { counters, labelled, gauges, distributions } = registry.snapshot();
    const hasEvents = [counters, distributions].some((group) => Object.keys(group).length > 0);
    if (hasEvents) logger.log('INFO', 'metrics', { metrics: { ...counters, ...gauges, ...distributions } });
    for (const { metric, label, value } of labelled) {
      logger.log('INFO', 'metric', { metric, label, value });
    }
  };
  return {
    flush,
    flushIfDue() {
      if (clock.now() - lastFlush >= flushIntervalMillis) flush();
    },
  };
}
