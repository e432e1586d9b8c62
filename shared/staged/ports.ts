import type { LedStore } from '../coordinator/ports.ts';
import type { CommitResult, Version, Versioned } from '../model/store.ts';
import type {
  Amount,
  CheckpointChanges,
  CheckpointState,
  PipelineState,
  Progress,
  RestHead,
  SegmentHead,
} from './state.ts';
import type { IdRange } from './segment-id.ts';

/**
 * What the staged sink asks of its durable store: three views of one pipeline's documents, one for each function.
 * Implemented over Firestore in `shared/google/firestore`.
 *
 * Every method tells what happened or rejects with a `StoreError`, after which a commit may or may not have happened;
 * every wait ends with `signal`. A commit may also happen again, by itself and minutes later, because the official client
 * repeats it: no commit of these ports does harm then.
 */

/** A segment to be stored: see `segment-id.ts` for its id. */
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
   * it visible. Resolves when all are durable; storing a segment that is there already (the same id, an earlier attempt
   * whose answer was lost) is success. At most {@link MAX_SEGMENTS_PER_COMMIT} at once.
   */
  stage(segments: readonly NewSegment[], signal: AbortSignal): Promise<void>;
  /** Undefined before the first coordinator. */
  readPipeline(signal: AbortSignal): Promise<PipelineState | undefined>;
  /** What is staged, and what is set apart, about: two counts, and a sample of each. */
  countBacklog(signal: AbortSignal): Promise<Pick<Progress, 'backlog' | 'rests'>>;
}

/** The largest payload of one document, and the most new segments in one commit (Firestore: 1 MiB, 4 MiB on its emulator). */
export const MAX_SEGMENT_BYTES = 850 * 1024;
export const MAX_SEGMENTS_PER_COMMIT = 4;

/** The coordinator's view. Heads come in the order of their ids. */
export interface CoordinatorStore extends LedStore<Progress, CheckpointChanges> {
  /**
   * How many segments there are in a range, or in all, which is cheaper than reading them; and when that was so, by the
   * clock of the store.
   */
  countSegments(
    range: IdRange | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly count: number; readonly readAt: number }>;
  readHeads(range: IdRange, limit: number, signal: AbortSignal): Promise<readonly SegmentHead[]>;
  /** Those of these checkpoints that are there. */
  readCheckpoints(numbers: readonly number[], signal: AbortSignal): Promise<readonly CheckpointState[]>;
  /**
   * What was completed at least, by the checkpoints and segments that are there: the highest number of a checkpoint, or
   * one less than that of a segment; 0 where there is none.
   */
  readHighestNumber(signal: AbortSignal): Promise<number>;
  countRests(signal: AbortSignal): Promise<number>;
  /** Those whose time has come, the longest due first. */
  readDueRests(now: number, limit: number, signal: AbortSignal): Promise<readonly RestHead[]>;
  /** Some of them, to reckon by. */
  sampleRests(limit: number, signal: AbortSignal): Promise<readonly RestHead[]>;
  /** All of these numbers has been sent to committers. Conditional on nothing. */
  markSent(numbers: readonly number[], sentAt: number, signal: AbortSignal): Promise<void>;
}

/** A segment with its payload, for the committer. */
export interface StoredSegment {
  readonly head: SegmentHead;
  readonly payload: Buffer;
}

/** What is to be set apart of a segment; its `payload` holds the envelopes that are open, and no others. */
export interface NewRest {
  readonly head: RestHead;
  readonly payload: Buffer;
}

/** The end of a segment: it is gone, or what is open of it is set apart. */
export interface FinishedSegment {
  readonly head: SegmentHead;
  readonly rest?: NewRest;
}

export interface StoredRest extends NewRest {
  readonly version: Version;
}

/** The end of an attempt at a rest: it is gone, or what is still open waits for the next. */
export interface FinishedRest {
  readonly stored: StoredRest;
  readonly rest?: NewRest;
}

/** In which cluster of a Bigtable instance a pipeline's markers are. */
export interface MarkerCluster {
  /** `project.instance`. */
  readonly instance: string;
  readonly cluster: string;
}

/** The committer's view. */
export interface CommittingStore {
  /** Undefined before the first coordinator. */
  readPipeline(signal: AbortSignal): Promise<PipelineState | undefined>;
  /** The first segments of a range that are there, in the order of their ids, each with its whole payload. */
  readRange(range: IdRange, limit: number, signal: AbortSignal): Promise<readonly StoredSegment[]>;
  /** Those of these segments that are still there. */
  readSegments(ids: readonly string[], signal: AbortSignal): Promise<readonly StoredSegment[]>;
  /**
   * Every envelope of the segments is answered, or set apart with this commit: they are deleted with their parts. Each
   * segment whole or not at all, conditional on nothing: whoever does it again changes nothing that counts.
   */
  finish(segments: readonly FinishedSegment[], signal: AbortSignal): Promise<void>;
  /** Those of these rests that are still there. */
  readRests(ids: readonly string[], signal: AbortSignal): Promise<readonly StoredRest[]>;
  /** As it was read; `conflict`: somebody else was faster, and nothing was changed. */
  finishRest(finished: FinishedRest, signal: AbortSignal): Promise<CommitResult>;
  /**
   * Notes the cluster of an instance in the pipeline's document where none is noted, or where `instead` is, and resolves
   * with the one that is noted then. Before the first coordinator nothing is noted, and the cluster itself is given back.
   */
  noteCluster(wanted: MarkerCluster, instead: string | undefined, signal: AbortSignal): Promise<string>;
}

/** What `status` reads. */
export interface StatusStore {
  readPipeline(signal: AbortSignal): Promise<Versioned<PipelineState> | undefined>;
  /** Highest number first. */
  readCheckpoints(limit: number, signal: AbortSignal): Promise<readonly CheckpointState[]>;
  /** What is set apart, in the order in which it is tried. */
  readRests(limit: number, signal: AbortSignal): Promise<readonly RestHead[]>;
  /** The lowest segments of each lane, up to so many of each. */
  readLowest(limit: number, signal: AbortSignal): Promise<readonly SegmentHead[]>;
  /** What is staged and what is set apart, about. */
  countBacklog(signal: AbortSignal): Promise<{ readonly backlog: Amount; readonly rests: Amount }>;
}
