import type { Metrics } from '../base/metrics.ts';
import { formatTableName } from '../model/table-name.ts';
import type { FailedRecord } from './failed-record.ts';

/** Counts records that are given to the failure policy. Before it runs, because it may not let the message go. */
export function countFailures(
  failed: readonly FailedRecord[],
  { metrics, perDestinationMetrics }: { readonly metrics: Metrics; readonly perDestinationMetrics: boolean },
): void {
  if (failed.length > 0) metrics.count('numRecordsSendErrors', failed.length);
  if (!perDestinationMetrics) return;
  for (const { destination } of failed) {
    if (destination) metrics.count('destination.sendErrors', 1, formatTableName(destination));
  }
}
