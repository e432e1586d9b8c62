import type { RowEntry } from '../model/mutation.ts';
import type { PushedMessage } from '../model/record.ts';
import type { TableName } from '../model/table-name.ts';

/** A record as far as it is still known. One that was staged is known by its entry and by where it came from. */
export interface FailedSource {
  readonly message: Pick<PushedMessage, 'messageId' | 'publishTimeMicros' | 'attributes'>;
  readonly index: number;
  /** The record as it was published; absent once it has been staged. */
  readonly data?: Buffer;
}

/**
 * A record that is itself wrong: its serializer refused it, Bigtable refused its entry alone, or it is too old to be
 * applied exactly once. Only these reach a failure policy. Outages, missing tables, permissions and skips never do.
 */
export interface FailedRecord {
  readonly record: FailedSource;
  /** Absent where the record could not even be read far enough to tell. */
  readonly destination?: TableName;
  /** The message's frame is broken: the record is the message itself. */
  readonly isWholeMessage?: boolean;
  readonly reason: 'serializer' | 'rejected' | 'beyond-horizon';
  /** Absent where the serializer refused the record, and where it became a request. */
  readonly entry?: RowEntry;
  /** The bytes of the request that the record became, in full; absent where there is none. */
  readonly encodeRequest?: () => Buffer;
  /** What its effect is known by, where that is not told by the message: 32 hexadecimal digits. */
  readonly identity?: string;
  /** What a log may say: names the rule, never the row. */
  readonly summary: string;
  /** What a dead letter may say beside the data itself: the serializer's or the service's own words. */
  readonly detail: string;
}
