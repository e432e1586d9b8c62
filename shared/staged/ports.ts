import type { Backlog, CheckpointState, PipelineState, SegmentHead, SegmentLease } from './state.ts';

/**
 * What the staged sink asks of its durable store: three views of one pipeline's documents, one for each function.
 * Implemented over Firestore in `shared/google/firestore`.
 *
 * Every method sends each commit at most once per call as far as the caller can tell: it either tells what happened or
 * rejects with a `StoreError`, after which the commit may or may not have happened. Every wait ends with `signal`.
 */

/** What a document was when it was read. Opaque; a commit that names it happens only if the document is still that. */
export type Version = string;

export interface Versioned<Value> {
  readonly value: Value;
  readonly version: Version;
}

/** A segment to be stored. Its id is random, so that writes spread. */
export interface NewSegment {
  readonly id: string;
  readonly envelopes: number;
  readonly payload: Buffer;
  readonly stagedAt: number;
}

/** The stager's view. */
export interface StagingStore {
  /**
   * Stores the segments, each whole: a payload of more than 850 KiB goes into part documents before the head that makes
   * it visible. Resolves when all are durable; storing a segment that is there already (the same random id, an earlier
   * attempt whose answer was lost) is success. At most {@link MAX_SEGMENTS_PER_COMMIT} at once.
   */
  stage(segments: readonly NewSegment[], signal: AbortSignal): Promise<void>;
  /** Undefined before the first coordinator. */
  readPipeline(signal: AbortSignal): Promise<PipelineState | undefined>;
}

/** The largest payload of one document, and the most new segments in one commit (Firestore: 1 MiB, 4 MiB on its emulator). */
export const MAX_SEGMENT_BYTES = 850 * 1024;
export const MAX_SEGMENTS_PER_COMMIT = 4;

/** `conflict`: a document was no longer what was read, and nothing at all was changed. */
export type CommitResult = 'committed' | 'conflict';

/** One atomic commit of the coordinator. */
export interface CoordinatorCommit {
  /** Fences everything else: the pipeline's document as it was read (undefined: it must not exist) and what it becomes. */
  readonly pipeline: { readonly version: Version | undefined; readonly value: PipelineState };
  /** A new checkpoint; one of its number must not exist. */
  readonly checkpoint?: CheckpointState;
  /** Segments that become the checkpoint's, each as it was read. */
  readonly own?: readonly {
    readonly id: string;
    readonly version: Version;
    readonly checkpoint: number;
    readonly lease: SegmentLease;
  }[];
  /** Segments that are sent out again, each as it was read. */
  readonly redispatch?: readonly { readonly id: string; readonly version: Version; readonly lease: SegmentLease }[];
  /** Checkpoints of which nothing remains, each as it was read. */
  readonly markCommitted?: readonly {
    readonly number: number;
    readonly version: Version;
    readonly committedAt: number;
  }[];
}

/** The coordinator's view. */
export interface CoordinatorStore {
  readPipeline(signal: AbortSignal): Promise<Versioned<PipelineState> | undefined>;
  /** Staged segments, without payloads, in no order. */
  readStaged(limit: number, signal: AbortSignal): Promise<readonly Versioned<SegmentHead>[]>;
  /** Checkpoints that are completed and not committed, lowest number first. */
  readOpenCheckpoints(limit: number, signal: AbortSignal): Promise<readonly Versioned<CheckpointState>[]>;
  /** What is left of a checkpoint, without payloads, in no order. */
  readOwned(checkpoint: number, limit: number, signal: AbortSignal): Promise<readonly Versioned<SegmentHead>[]>;
  commit(commit: CoordinatorCommit, signal: AbortSignal): Promise<CommitResult>;
}

/** A segment with its payload, for the committer. */
export interface StoredSegment {
  readonly head: SegmentHead;
  readonly version: Version;
  readonly payload: Buffer;
}

/** The committer's view. */
export interface CommittingStore {
  /** The segments that are still there, each with its whole payload. Those that are gone were finished. */
  readSegments(ids: readonly string[], signal: AbortSignal): Promise<readonly StoredSegment[]>;
  /** Takes or renews the leases, all or none, each segment as it was read. The new versions in the order given, or undefined on a conflict. */
  lease(
    segments: readonly {
      readonly id: string;
      readonly version: Version;
      readonly lease: SegmentLease;
      readonly problem?: string;
    }[],
    signal: AbortSignal,
  ): Promise<readonly Version[] | undefined>;
  /**
   * Every envelope of the segments is answered: deletes them with their parts and counts their checkpoint down, in one
   * atomic commit. `conflict`: one of them is gone already, which somebody else has counted; nothing was changed.
   */
  finish(segments: readonly SegmentHead[], finishedAt: number, signal: AbortSignal): Promise<CommitResult>;
}

/** What `status` reads. */
export interface StatusStore {
  readPipeline(signal: AbortSignal): Promise<Versioned<PipelineState> | undefined>;
  /** Highest number first. */
  readCheckpoints(limit: number, signal: AbortSignal): Promise<readonly CheckpointState[]>;
  /** Segments that an attempt gave back, with the problem of each. */
  readProblems(limit: number, signal: AbortSignal): Promise<readonly SegmentHead[]>;
  /** Counted now, by the store. */
  countStaged(signal: AbortSignal): Promise<Backlog>;
}

/** A message of the internal topic: segments of one checkpoint to drain. */
export interface CommitWork {
  readonly pipeline: string;
  readonly checkpoint: number;
  readonly segments: readonly string[];
}

/** Publishes work and waits for its confirmation. Rejects when any of it is unconfirmed. */
export interface WorkTopic {
  publish(work: readonly CommitWork[], signal: AbortSignal): Promise<void>;
}
