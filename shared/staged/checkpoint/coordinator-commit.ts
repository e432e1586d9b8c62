import type { CheckpointState, PipelineState, SegmentLease } from './state.ts';
import type { Version } from '../../model/versioned.ts';

/** What a tick of the coordinator makes of what it read: a commit, and messages. Plain values. */

/** One atomic commit of the coordinator. */
export interface CoordinatorCommit {
  /**
   * Fences everything else: the pipeline's document as it was read (undefined: it must not exist) and what it becomes.
   * No two commits make it the same value: a store whose answer was lost knows its own commit by it.
   */
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

/** A message of the internal topic: segments of one checkpoint to drain. */
export interface CommitWork {
  readonly pipeline: string;
  readonly checkpoint: number;
  readonly segments: readonly string[];
}
