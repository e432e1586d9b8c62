import { DEPARTURES } from '../base/departures.ts';
import type { FunctionMetrics } from '../base/function-metrics.ts';
import type { Platform } from '../base/platform.ts';
import { count, describeChecks, introduction } from '../base/report.ts';
import { type Check, conclude } from '../base/verdict.ts';
import type { RequestsObserved } from './verdict.ts';

/** The words of the run: what it is about to do, and what came of it. */

export const introduceRequests = ({ cloud, connector }: Platform, messages: number): string =>
  introduction(DEPARTURES.title, cloud, connector.functions, [
    `${count(messages)} flights, each asked of two pipelines; acknowledgements and answers are lost on the way.`,
  ]);

export interface RequestsReport {
  readonly checks: readonly Check[];
  readonly observed: RequestsObserved;
  readonly metrics: FunctionMetrics;
  readonly millis: number;
  /** Pushes delivered again although acknowledged, and answers of Bigtable that were lost. */
  readonly trouble: { readonly again: number; readonly lost: number };
}

export function describeRequests({ checks, observed, metrics, millis, trouble }: RequestsReport): string {
  const { first, latest } = observed.results;
  const written = (name: 'first' | 'latest'): number =>
    observed.results[name].filter(({ hasWritten }) => hasWritten).length;
  return [
    '',
    `results: first ${count(first.length)}, of them ${count(written('first'))} wrote; latest ${count(latest.length)}, of them ${count(written('latest'))} wrote`,
    `  a result is published again with its message: ${count(trouble.again)} messages were delivered again although acknowledged`,
    `  ${count(trouble.lost)} answers of Bigtable were lost on purpose; ${count(metrics.total('messagesRedelivered', 'ambiguous'))} messages were redelivered because of one`,
    `requests: ${count(metrics.total('requestsCompleted'))} completed in ${(millis / 1000).toFixed(1)} s, from the first publish to the last acknowledgement`,
    `over HTTP: a counter said ${observed.counted.join(', ')}`,
    '',
    describeChecks(checks),
    conclude(checks),
    '',
  ].join('\n');
}
