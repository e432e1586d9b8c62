import type { Status } from './status.ts';
import type { TableName } from './table-name.ts';

/** One RPC on one row, encoded, to be sent exactly once. */
export interface RowCall {
  readonly method: 'CheckAndMutateRow' | 'ReadModifyWriteRow';
  /** Of the request; the call is sent to the client of its instance and routed by it. */
  readonly table: TableName;
  /** Of the request; empty is the instance's default profile. */
  readonly appProfileId: string;
  /** The encoded `google.bigtable.v2` request of the method. */
  readonly request: Buffer;
  /** The whole attempt's time, waiting for a client included. */
  readonly timeoutMillis: number;
  /** Cancels the RPC itself. Whether it applied is then unknown. Absent: only its own time ends it. */
  readonly signal?: AbortSignal;
}

/** What became of the one attempt. */
export type RowReply =
  /** The encoded `google.bigtable.v2` response of the method. */
  | { readonly kind: 'answered'; readonly answer: Buffer }
  | {
      readonly kind: 'failed';
      readonly status: Status;
      /** Nothing was sent: the request is known not to have applied. */
      readonly isUnsent: boolean;
    };

/**
 * Sends a row's RPC once, without retries. Always resolves. Implemented over a raw gRPC channel in
 * `shared/google/bigtable`.
 */
export type SendRowCall = (call: RowCall) => Promise<RowReply>;
