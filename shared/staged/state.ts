import type { Led } from '../coordinator/ports.ts';
import type { Version } from '../model/store.ts';

/**
 * What is durable of a staged pipeline. Plain values; times are milliseconds since the epoch. Every write of them is
 * conditional on what was read: see the ports.
 *
 * ```
 * pipelines/{p}                   PipelineState
 * pipelines/{p}/segments/{id}     SegmentHead and its payload
 * pipelines/{p}/parts/{id}-{k}    the rest of a payload that one document cannot hold
 * pipelines/{p}/checkpoints/{n}   CheckpointState
 * ```
 */

/** Uncommitted work: staged, or owned by a checkpoint that is not committed. */
export interface Backlog {
  readonly segments: number;
  readonly envelopes: number;
  readonly bytes: number;
}

/** What an entry weighs beside its request, wherever it is held against the caps. */
export const BYTES_PER_ENTRY = 256;

/** How far a pipeline is, by its coordinator's last decision. */
export interface Progress {
  /** Number of the last checkpoint; 0 before the first. */
  readonly lastCheckpoint: number;
  readonly lastCompletedAt: number;
  /** As counted at the last tick. */
  readonly backlog: Backlog;
  readonly countedAt: number;
}

export type PipelineState = Led<Progress>;

export interface SegmentLease {
  /** The invocation that drains the segment; empty while it waits for one. */
  readonly holder: string;
  /** Until then the segment is the holder's, or on its way to one; after it, anybody's. */
  readonly expiresAt: number;
  /** Times that the work was sent out again, or given back. */
  readonly attempts: number;
}

/** A segment without its payload. */
export interface SegmentHead {
  readonly id: string;
  readonly state: 'staged' | 'owned';
  /** Present once it is owned. */
  readonly checkpoint?: number;
  readonly envelopes: number;
  /** Of the payload. */
  readonly bytes: number;
  /** Documents that hold the rest of the payload; 0 for nearly all. */
  readonly parts: number;
  readonly stagedAt: number;
  /** Present once it is owned. */
  readonly lease?: SegmentLease;
  /** Why the last attempt gave it back, for people. Names no row key and no value. */
  readonly problem?: string;
}

/** A checkpoint's completion authorizes the commits of its segments, row by row. */
export interface CheckpointState {
  readonly number: number;
  /** `committed` once nothing remains. */
  readonly state: 'completed' | 'committed';
  readonly segments: number;
  readonly envelopes: number;
  readonly bytes: number;
  readonly remainingSegments: number;
  readonly remainingEnvelopes: number;
  readonly remainingBytes: number;
  /** When its oldest segment was staged. */
  readonly oldestStagedAt: number;
  readonly completedAt: number;
  /** When its last segment so far was finished. */
  readonly lastFinishedAt?: number;
  readonly committedAt?: number;
}

/** What a tick changes beside the pipeline's document. All in one commit, which stays below 500 writes. */
export interface CheckpointChanges {
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
