import type { Led, LedStore } from '../coordinator/ports.ts';
import type { RowRange } from '../model/row-range.ts';
import type { Version, Versioned } from '../model/store.ts';
import type { SlotStore } from '../slots/ports.ts';
import type { HeldPartition, Merge, Partition, PartitionState } from './ledger/partition.ts';
import type { Ledger, Topology } from './ledger/ledger.ts';
import type { LedgerWrite } from './ledger/writes.ts';
import type { Retention, Source } from './source.ts';

/**
 * What a change stream asks of its durable store: views of one source's documents, one for each who asks. Implemented over
 * Firestore in `shared/google/firestore`.
 *
 * Every method tells what happened or rejects with a `StoreError`, after which a commit may or may not have happened;
 * every wait ends with `signal`. A commit may also happen again, by itself and minutes later: each depends on a version
 * that its own first time changes. A document of a newer format is refused with a `StoreError`, not misread.
 */

/** A partition whose time has come, and the document that says so. */
export interface WaitingPartition {
  readonly partition: Partition & { readonly state: Extract<PartitionState, { kind: 'waiting' | 'resting' }> };
  readonly version: Version;
}

/** The view of a slot. */
export interface ChangeStreamStore extends SlotStore<HeldPartition, LedgerWrite> {
  /** Undefined before the first coordinator. */
  readSource(signal: AbortSignal): Promise<Source | undefined>;
  /**
   * Partitions that may be taken at `now`, in their turn: by round, in a round by low watermark, the oldest first. Of those
   * that rest the ones whose time has come are among them; the others take nobody's place.
   *
   * @param limit of each, those that wait and those that rested, and of what is told.
   */
  readWaiting(
    generation: number,
    now: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly WaitingPartition[]>;
  /** The highest round in which a partition waits; 0 where none does. */
  readTailRound(generation: number, signal: AbortSignal): Promise<number>;
  /** Partitions that wait, rest or are held; counted by the store, which is cheaper than reading them. */
  countOpen(generation: number, signal: AbortSignal): Promise<number>;
  /** Those of them that are there. */
  readMerges(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Versioned<Merge>>>;
}

/** The coordinator's view. */
export interface ChangeStreamCoordinatorStore extends LedStore<Source, readonly LedgerWrite[]> {
  readTopology(signal: AbortSignal): Promise<Topology>;
  /** In one read-only transaction. */
  readLedger(generation: number, signal: AbortSignal): Promise<Ledger>;
  /** Partitions that are done and still kept, in no order: how far each part of the table was read. */
  readDone(generation: number, signal: AbortSignal): Promise<readonly Partition[]>;
  /** Partitions of a run that is done which have no time until which they are kept. */
  readCompleted(generation: number, limit: number, signal: AbortSignal): Promise<readonly Versioned<Partition>[]>;
  /** Names of partitions that are not done, of a generation that is nobody's any more. */
  readDead(generation: number, limit: number, signal: AbortSignal): Promise<readonly string[]>;
}

/** The view of whoever looks at a source, or pauses and resumes it. */
export type ChangeStreamStatusStore = Pick<ChangeStreamCoordinatorStore, 'readPipeline' | 'readLedger' | 'readDone'> & {
  /** Writes the source as it was read, and nothing else. */
  write(
    pipeline: { readonly version: Version; readonly value: Led<Source> },
    signal: AbortSignal,
  ): Promise<'committed' | 'conflict'>;
};

/** What a look at the table says of it. */
export interface TableLook {
  /** The source must not be read: what holds for the whole table, and what to do. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** How long the service keeps changes. Absent where that may not be read. */
  readonly retentionMillis?: number;
}

/** Looks whether the source can be read at all. Rejects where it is not known. */
export type LookAtTable = (signal: AbortSignal) => Promise<TableLook>;

/**
 * The partitions of the source's table as the service has them now, normalised and with retries inside. Rejects with an
 * error whose message says what to do.
 */
export type ListServicePartitions = (signal: AbortSignal) => Promise<readonly RowRange[]>;

export type { Ledger, LedgerWrite, Retention, Source, Topology };
