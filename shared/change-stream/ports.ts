import type { Led, LedStore } from '../coordinator/ports.ts';
import type { RowRange } from '../model/row-range.ts';
import type { Version, Versioned } from '../model/store.ts';
import type { SlotRead, SlotStore } from '../slots/ports.ts';
import type { HeldPartition, Merge, Missing, Partition, PartitionState } from './ledger/partition.ts';
import type { Retention, Source } from './source.ts';

/**
 * What a change stream asks of its durable store: views of one source's documents, one for each who asks. Implemented over
 * Firestore in `shared/google/firestore`.
 *
 * Every method tells what happened or rejects with a `StoreError`, after which a commit may or may not have happened;
 * every wait ends with `signal`. A commit may also happen again, by itself and minutes later: each depends on a version
 * that its own first time changes. A document of a newer format is refused with a `StoreError`, not misread.
 */

/**
 * What is written beside a slot's or the source's document, in the same commit or not at all. Whatever was read to decide on
 * it has its version as a precondition.
 */
export type LedgerWrite =
  /** Without a version the slot's own document fences it: the slot has the partition. */
  | { readonly kind: 'partition'; readonly partition: Partition; readonly version?: Version }
  /** It must not be there. */
  | { readonly kind: 'new-partition'; readonly partition: Partition }
  /** Of a generation that is nobody's. It may be gone already. */
  | { readonly kind: 'partition-gone'; readonly id: string }
  /** Undefined: it must not be there. */
  | { readonly kind: 'merge'; readonly merge: Merge; readonly version: Version | undefined }
  | { readonly kind: 'merge-gone'; readonly id: string; readonly version: Version }
  /** Undefined: it must not be there. */
  | { readonly kind: 'missing'; readonly missing: Missing; readonly version: Version | undefined }
  | { readonly kind: 'missing-gone'; readonly id: string; readonly version: Version }
  /** Adds one to the version of the topology without asking what it was: closes wait neither for each other nor for a coordinator. */
  | { readonly kind: 'topology-moved' }
  /** The same, and the topology must be as it was read (undefined: it has never moved). Coordinators alone ask for that. */
  | { readonly kind: 'topology-moved-from'; readonly version: Version | undefined };

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

/** Everything that is known of one generation but its finished partitions, as it was at one time. */
export interface Ledger {
  readonly topology: Topology;
  /** Open and completed ones. */
  readonly partitions: readonly Versioned<Partition>[];
  readonly merges: readonly Versioned<Merge>[];
  readonly missing: readonly Versioned<Missing>[];
  /** Every slot that somebody ever had, by its number. */
  readonly slots: ReadonlyMap<number, SlotRead<HeldPartition>>;
}

/** Grows with everything that makes, ends or joins partitions. */
export interface Topology {
  /** 0: it has never moved. */
  readonly number: number;
  /** Undefined: it has never moved. */
  readonly version: Version | undefined;
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

/** What the table says before anything is read from it. */
export interface TableFacts {
  /** Undefined where it may not be read. */
  readonly retentionMillis: number | undefined;
}

/**
 * Asks whether the source can be read at all: a profile that routes to one cluster, a stream that is on, how long it keeps
 * changes. Rejects with an error of which the message says what to do where it cannot.
 */
export type Preflight = (signal: AbortSignal) => Promise<TableFacts>;

/** How long the service keeps changes of the table. Undefined where that may not be read; rejects like {@link Preflight}. */
export type ReadRetention = (signal: AbortSignal) => Promise<number | undefined>;

/** The partitions of the source's table as the service has them now, normalised. Retries inside. */
export type ListServicePartitions = (signal: AbortSignal) => Promise<readonly RowRange[]>;

export type { Retention, Source };
