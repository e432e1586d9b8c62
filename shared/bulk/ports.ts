import type { RowEntry, SizedEntry } from '../model/mutation.ts';
import type { TableName } from '../model/table-name.ts';
import type { EntryAnswer, RateLimit } from './answer.ts';

/** The one thing the bulk sink asks of Bigtable. Implemented over a gRPC channel in `shared/google/bigtable`. */
export interface MutateRows {
  /** Serialized bytes of an entry: what the in-flight and batch bounds count. */
  sizeOf(entry: RowEntry): number;
  /**
   * Sends one request, once, without retries. Resolves with exactly one answer per entry, in the order given, however
   * the request ends; rejects only if no request could be made at all (no client, no credentials).
   */
  send(request: MutateRowsCall): Promise<MutateRowsReply>;
}

export interface MutateRowsCall {
  readonly table: TableName;
  readonly entries: readonly SizedEntry[];
  /** The whole attempt's time, waiting for a client included. */
  readonly timeoutMillis: number;
}

export interface MutateRowsReply {
  readonly answers: readonly EntryAnswer[];
  readonly rateLimit?: RateLimit;
  /** False when the service never said anything: the stall warning measures silence, not failure. */
  readonly isHeard: boolean;
}
