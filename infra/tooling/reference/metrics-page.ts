import { METRICS, type MetricDeclaration } from '../../../shared/base/metric-catalogue.ts';
import { code, table } from './markdown.ts';

/** The reference page of all metrics, made of their catalogue. */
export function metricsPage(): string {
  const metrics = Object.entries<MetricDeclaration>(METRICS).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const rows = metrics.map(([name, { kind, unit, labels = [], meaning }]) => [
    code(name),
    kind,
    UNITS[unit],
    labels.map(code).join(', '),
    meaning,
  ]);
  return [
    '# Metrics',
    'Made by `npm run docs` from `shared/base/metric-catalogue.ts`; change that, not this page.',
    INTRODUCTION,
    table(['Metric', 'Kind', 'Unit', 'Labels', 'Meaning'], rows),
  ].join('\n\n');
}

const INTRODUCTION = `An instance writes its metrics as JSON log lines, from which log-based metrics are made. A counter counts events
since the line before; a gauge is a state at the time of the line; a distribution gives count, sum, min, max, p50 and
p95, the last two over a sample of the values since the line before.`;

const UNITS: Readonly<Record<MetricDeclaration['unit'], string>> = {
  '1': 'count',
  By: 'bytes',
  ms: 'milliseconds',
  s: 'seconds',
};
