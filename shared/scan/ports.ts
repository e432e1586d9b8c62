import { ConnectorError } from '../base/errors.ts';
import type { RowRange } from '../model/row-range.ts';
import type { Status } from '../model/status.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';

/** One `ReadRows` over one range. */
export interface ReadRowsCall {
  readonly table: TableName;
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  /** Not empty: the service refuses a range that can hold no key. */
  readonly range: RowRange;
  /** The encoded `google.bigtable.v2.RowFilter`; absent: every cell. */
  readonly filter?: Buffer;
  /** Each cancels the call, and the wait for a client. */
  readonly signals: readonly AbortSignal[];
}

/**
 * The messages of one `ReadRows`, sent once and never retried. It announces that it understands messages which only say
 * how far the service has scanned.
 */
export interface RowMessages {
  /**
   * The next message, or how the call ended. The service is asked for a message when this is called and not before, so
   * that a slow reader slows it down. Always resolves; an end stays the end. Not to be called again before it resolved.
   */
  next(): Promise<RowMessage>;
  /**
   * Cancels the call unless it has ended, and resolves when it has; a `next` that waits fails as CANCELLED.
   *
   * @param isSilent the service said nothing for too long: its connection may be dead, and takes no further call.
   */
  close(isSilent?: boolean): Promise<void>;
}

export type RowMessage =
  /** An encoded `google.bigtable.v2.ReadRowsResponse`. */
  | { readonly kind: 'message'; readonly message: Buffer }
  /** The service said OK: nothing of the range is left. */
  | { readonly kind: 'finished' }
  | {
      readonly kind: 'failed';
      readonly status: Status;
      /** The key of the row that the service will not read for its size, where it names one. */
      readonly oversizedKey?: Buffer;
      /** So long the service asks to be left alone, where it says so. */
      readonly retryAfterMillis?: number;
    };

/** Opens one `ReadRows`. Implemented over a raw gRPC channel in `shared/google/bigtable`. */
export type ReadRows = (call: ReadRowsCall) => RowMessages;

/**
 * A table was not read or sampled, and another attempt of the same call would end alike. Nothing is lost by it: what was
 * handed on stays so, and the rest is as it was.
 */
export class ReadFailedError extends ConnectorError {
  override readonly name = 'ReadFailedError';
  readonly status: Status;

  /** @param what the call in words: `ReadRows of [a, b)`. */
  constructor(what: string, table: TableName, status: Status, options?: ErrorOptions) {
    super(`${what} of ${formatTableName(table)} ended with ${status.code}: ${status.message}`, options);
    this.status = status;
  }
}

/** Where a table may be cut. */
export interface RowKeySample {
  /** Empty: the end of the table. */
  readonly key: Buffer;
  /** About how many bytes lie before the key. */
  readonly offsetBytes: bigint;
}

/**
 * `SampleRowKeys` of a table, in the order of the service, with its own retries inside: 10 minutes in all. Rejects with
 * a {@link ReadFailedError} when they are used up or of no use, and with the signal's reason when that aborts.
 */
export type SampleRowKeys = (
  table: TableName,
  appProfileId: string,
  signal: AbortSignal,
) => Promise<readonly RowKeySample[]>;
