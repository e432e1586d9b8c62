import type { RowEntry } from '../model/mutation.ts';
import type { InputRecord } from '../model/record.ts';
import type { TableName } from '../model/table-name.ts';

/**
 * A record that is itself wrong: its serializer refused it, or Bigtable refused its entry alone. Only these reach a
 * failure policy. Outages, missing tables, permissions and skips never do.
 */
export interface FailedRecord {
  readonly record: InputRecord;
  /** Absent where the record could not even be read far enough to tell. */
  readonly destination?: TableName;
  /** The message's frame is broken: the record is the message itself. */
  readonly isWholeMessage?: boolean;
  readonly reason: 'serializer' | 'rejected';
  /** Absent where the serializer refused the record, and where it became a request. */
  readonly entry?: RowEntry;
  /** The bytes of the request that the record became, in full; absent where there is none. */
  readonly encodeRequest?: () => Buffer;
  /** What a log may say: names the rule, never the row. */
  readonly summary: string;
  /** What a dead letter may say beside the data itself: the serializer's or the service's own words. */
  readonly detail: string;
}
