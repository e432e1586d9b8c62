import type { Runtime } from '../base/runtime.ts';
import type { RowEntry } from '../model/mutation.ts';
import type { PushedMessage } from '../model/record.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';

/** A record as far as it is still known. One that was staged is known by its entry and by where it came from. */
export interface FailedSource {
  readonly message: Pick<PushedMessage, 'messageId' | 'publishTimeMicros' | 'attributes' | 'letter'>;
  readonly index: number;
  /** The record as it was published; absent once it has been staged. */
  readonly data?: Buffer;
}

/**
 * A record that is itself wrong: its serializer refused it, Bigtable refused its entry alone, it is too old to be
 * applied exactly once, or it came in a letter that may not write it. Only these reach a failure policy. Outages,
 * missing tables, permissions and skips never do.
 */
export interface FailedRecord {
  readonly record: FailedSource;
  /** Absent where the record could not even be read far enough to tell. */
  readonly destination?: TableName;
  /** The message's frame is broken: the record is the message itself. */
  readonly isWholeMessage?: boolean;
  readonly reason: 'serializer' | 'rejected' | 'beyond-horizon' | 'not-allowed';
  /** Absent where the serializer refused the record, and where it became a request. */
  readonly entry?: RowEntry;
  /** The bytes of the request that the record became, in full; absent where there is none. */
  readonly encodeRequest?: () => Buffer;
  /** What its effect is known by, where it counts exactly once: 32 hexadecimal digits. */
  readonly identity?: string;
  /** What a log may say: names the rule, never the row. */
  readonly summary: string;
  /** What a dead letter may say beside the data itself: the serializer's or the service's own words. */
  readonly detail: string;
}

/** Counts records that are given to the failure policy. Before it runs, because it may not let the message go. */
export function countFailures(
  failed: readonly FailedRecord[],
  {
    runtime: { metrics },
    perDestinationMetrics,
  }: { readonly runtime: Runtime; readonly perDestinationMetrics: boolean },
): void {
  if (failed.length > 0) metrics.count('numRecordsSendErrors', failed.length);
  if (!perDestinationMetrics) return;
  for (const { destination } of failed) {
    if (destination) metrics.count('destination.sendErrors', 1, formatTableName(destination));
  }
}
