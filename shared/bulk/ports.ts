import type { ResolvedTableCreateOptions } from '../config/resolved.ts';
import type { RowEntry, SizedEntry } from '../model/mutation.ts';
import type { TableName } from '../model/table-name.ts';
import type { EntryAnswer, RateLimit } from './answer.ts';

export type { FamilyType, ResolvedFamily, ResolvedGcRule } from '../config/resolved.ts';
export { completeAnswers, type EntryAnswer, type RateLimit } from './answer.ts';

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

/** What the bulk sink asks of the table admin API. Nothing of it changes or deletes what exists. */
export interface TableAdmin {
  /**
   * Makes sure that the table and its declared families exist. Resolves with what it found and did; rejects with a
   * `FamilyTypeError` when a family is of another type, and with another error when it may be tried again.
   */
  ensure(table: TableName, options: ResolvedTableCreateOptions, signal: AbortSignal): Promise<EnsuredTable>;
  /** Rejects with a `FamilyTypeError` when a family exists with another type. What is missing is no error. */
  checkTypes(table: TableName, options: ResolvedTableCreateOptions, signal: AbortSignal): Promise<void>;
}

export interface EnsuredTable {
  readonly created: boolean;
  /** Families added to a table that existed. */
  readonly familiesAdded: number;
  /** All families that the table has. */
  readonly families: ReadonlySet<string>;
}

/** The three calls that {@link TableAdmin} is made of: sent once each; they reject with a `TableAdminError`. */
export interface TableCalls {
  /** Creates the table with all declared families. False when a table of the name exists. */
  create(table: TableName, options: ResolvedTableCreateOptions, signal: AbortSignal): Promise<boolean>;
  /** The families that exist and their types, in our words or, for another type, in its own. Undefined: no table. */
  read(table: TableName, signal: AbortSignal): Promise<ReadonlyMap<string, string> | undefined>;
  /** Adds all of the families or none. False when one of them exists. */
  addFamilies(
    table: TableName,
    families: ResolvedTableCreateOptions['families'],
    signal: AbortSignal,
  ): Promise<boolean>;
}

/** Runs `use` with calls over one connection. Rejects where there is none before the signal aborts. */
export type ConnectTableCalls = <Result>(
  signal: AbortSignal,
  use: (calls: TableCalls) => Promise<Result>,
) => Promise<Result>;
