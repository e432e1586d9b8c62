import type { Lease } from '../../model/lease.ts';

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

export interface PipelineState {
  /** The coordinator's. Its epoch grows with every change of owner: every commit of an owner is fenced by it. */
  readonly lease: Lease;
  /** Number of the last checkpoint; 0 before the first. */
  readonly lastCheckpoint: number;
  readonly lastCompletedAt: number;
  /** As counted at the last tick. */
  readonly backlog: Backlog;
  readonly countedAt: number;
}

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
  /** There once it is owned. */
  readonly checkpoint?: number;
  readonly envelopes: number;
  /** Of the payload. */
  readonly bytes: number;
  /** Documents that hold the rest of the payload; 0 for nearly all. */
  readonly parts: number;
  readonly stagedAt: number;
  /** There once it is owned. */
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
