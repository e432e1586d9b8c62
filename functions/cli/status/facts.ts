import type { Amount, CheckpointState, PipelineState, RestHead, SegmentHead } from '../../../shared/staged/state.ts';

/** What was read of a pipeline, for people and as JSON. */
export interface PipelineFacts {
  readonly pipeline: string;
  /** Absent where no coordinator has run yet. */
  readonly state?: PipelineState;
  /** What is not in its rows yet, now, and what is set apart. About. */
  readonly backlog: Amount;
  readonly rests: Amount;
  /** The last ones, highest number first. */
  readonly checkpoints: readonly CheckpointState[];
  /** The oldest segment of a completed checkpoint that is not in its rows. */
  readonly oldest?: SegmentHead;
  /** What is set apart, in the order in which it is tried again. */
  readonly setApart: readonly RestHead[];
}

/** The oldest of those whose checkpoint is complete. */
export const oldestOf = (heads: readonly SegmentHead[], completed: number): SegmentHead | undefined =>
  heads
    .filter(({ number }) => number <= completed)
    .toSorted((left, right) => left.createdAt - right.createdAt)
    .at(0);

/** Silence of every coordinator for so long is no pause between two invocations. */
const SILENT_MILLIS = 120_000;

/** Whether nobody ticks the pipeline, as far as can be seen from outside. */
export const isUnattended = ({ state }: PipelineFacts, now: number): boolean =>
  state === undefined || now > state.lease.expiresAt + SILENT_MILLIS;
