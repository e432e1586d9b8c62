import type { CommitResult, Version, Versioned } from '../model/store.ts';
import type { LedStore } from '../coordinator/ports.ts';
import type {
  Backlog,
  CheckpointChanges,
  CheckpointState,
  PipelineState,
  Progress,
  SegmentHead,
  SegmentLease,
} from './state.ts';

/**
 * What the staged sink asks of its durable store: three views of one pipeline's documents, one for each function.
 * Implemented over Firestore in `shared/google/firestore`.
 *
 * Every method sends each commit at most once per call as far as the caller can tell: it either tells what happened or
 * rejects with a `StoreError`, after which the commit may or may not have happened. Every wait ends with `signal`.
 */

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

/** The coordinator's view. */
export interface CoordinatorStore extends LedStore<Progress, CheckpointChanges> {
  /** Staged segments, without payloads, in no order. */
  readStaged(limit: number, signal: AbortSignal): Promise<readonly Versioned<SegmentHead>[]>;
  /** How many segments are staged: cheaper than reading them. */
  countStagedSegments(signal: AbortSignal): Promise<number>;
  /** Checkpoints that are completed and not committed, lowest number first. */
  readOpenCheckpoints(limit: number, signal: AbortSignal): Promise<readonly Versioned<CheckpointState>[]>;
  /** What is left of a checkpoint, without payloads, in no order. */
  readOwned(checkpoint: number, limit: number, signal: AbortSignal): Promise<readonly Versioned<SegmentHead>[]>;
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
  /**
   * Takes, renews or gives back the leases, all or none, each segment as it was read. A problem is set where one is
   * given, and stays otherwise. The new versions in the order given, or undefined on a conflict.
   */
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
  /** What is staged now. Reads every staged segment without its payload. */
  countStaged(signal: AbortSignal): Promise<Backlog>;
}
