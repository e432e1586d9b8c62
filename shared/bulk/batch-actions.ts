import type { Status } from '../model/status.ts';
import type { EntryAnswer } from './answer.ts';
import type { FinalVerdict } from './verdict.ts';
import type { LaneEntry, RowWrite } from './lane.ts';
import type { Trouble } from './outcome.ts';
import type { TableState } from './table-state.ts';

/** A write that met a transient failure: its undecided entries, and the answer. */
export interface Retry<Entry extends LaneEntry> {
  readonly write: RowWrite<Entry>;
  readonly undecided: readonly Entry[];
  readonly status: Status;
}

/** What a batch may do to its entries. Given by the batcher; a fake in tests. */
export interface BatchActions<Entry extends LaneEntry> {
  /** One request with one wire entry per group of parts; one answer each, by index. `purpose` only names the metric. */
  send(groups: readonly (readonly Entry[])[], purpose: 'write' | 'isolate'): Promise<readonly EntryAnswer[]>;
  settle(entry: Entry, verdict: FinalVerdict): void;
  /** Sends what one answer left undecided again later, with the rows still held; together, as it was sent before. */
  retry(again: readonly Retry<Entry>[]): void;
  /** The entry's invocation is gone: it is done with, unsent. */
  discard(entry: Entry): void;
  /** Frees the row of a write that is decided. */
  release(write: RowWrite<Entry>): void;
  /** Present if missing tables and families are created. */
  readonly repair?: Repair<Entry>;
}

/** What is done about a table that misses itself or a family. */
export interface Repair<Entry extends LaneEntry> {
  /** Attempts per write: an ensure and what was sent after it are one. */
  readonly maxAttempts: number;
  /** What the instance last learned of the table. */
  known(): TableState | undefined;
  /** Something newer than `before`; or `before` itself, as long as it stands. Never rejects. */
  ensure(before: TableState | undefined): Promise<TableState>;
  /** The time of the clock at which to try again after failed attempt number `attempt`. */
  retryAt(attempt: number): number;
  sleepUntil(millis: number): Promise<void>;
  /** Waits with the entries parked: their rows stay held, the request slot is another's meanwhile. */
  park<Result>(entries: readonly Entry[], trouble: Trouble, wait: () => Promise<Result>): Promise<Result>;
  /** These entries were answered NOT_FOUND and are not done with. */
  counted(entries: readonly Entry[]): void;
}

/** A write that was answered NOT_FOUND and is to be repaired. */
export interface Missing<Entry extends LaneEntry> {
  readonly write: RowWrite<Entry>;
  readonly reason: 'missing-table' | 'missing-family';
  readonly status: Status;
}

/** How one round of sending and narrowing down treats what is missing. */
export interface Course<Entry extends LaneEntry> {
  readonly actions: BatchActions<Entry>;
  /**
   * Takes what was answered NOT_FOUND out of the round, undecided. Without it, an entry that is alone is redelivered.
   * `evenShared`: a batch that shares the suspicion of a missing family is set aside whole instead of narrowed down.
   */
  readonly aside?: {
    readonly evenShared: boolean;
    add(missing: Missing<Entry>, answered: readonly Entry[]): void;
  };
  /** What to say of an entry that is redelivered because something is missing. */
  readonly advice?: string;
}
