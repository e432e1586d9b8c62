import type { Backlog, CheckpointState, PipelineState, SegmentHead } from '../../../shared/staged/state.ts';

/** What was read of a pipeline, for people and as JSON. */
export interface PipelineFacts {
  readonly pipeline: string;
  /** Absent where no coordinator has run yet. */
  readonly state?: PipelineState;
  /** What waits for a checkpoint now. */
  readonly staged: Backlog;
  /** The last ones, highest number first. */
  readonly checkpoints: readonly CheckpointState[];
  /** Segments that a committer gave back. */
  readonly problems: readonly SegmentHead[];
}

/** Silence of every coordinator for so long is no pause between two invocations. */
const SILENT_MILLIS = 120_000;

/** Whether nobody ticks the pipeline, as far as can be seen from outside. */
export const isUnattended = ({ state }: PipelineFacts, now: number): boolean =>
  state === undefined || now > state.lease.expiresAt + SILENT_MILLIS;
