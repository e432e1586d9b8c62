import type { Decision } from '../../coordinator/decider.ts';
import { dispatchLease, packWork, ranOut } from './dispatch.ts';
import {
  BYTES_PER_ENTRY,
  type Backlog,
  type CheckpointChanges,
  type CheckpointState,
  type Progress,
  type SegmentHead,
} from '../state.ts';
import type { CommitWork } from '../work-message.ts';
import type { Versioned } from '../../model/store.ts';

/** The decision of a tick: state and `now` in, one commit and its messages out. Pure. */

export interface CheckpointOptions {
  readonly checkpointIntervalMillis: number;
  /** Caps of uncommitted work, in envelopes and in bytes (payload and 256 per envelope). */
  readonly maxStagedEntries: number;
  readonly maxStagedBytes: number;
}

/** Segments that one commit gives to a checkpoint, or sends out again. All writes of a commit stay below 500. */
export const MAX_SEGMENTS_PER_CHECKPOINT = 300;
const MAX_REDISPATCHED_PER_COMMIT = 100;
const MAX_MARKED_PER_COMMIT = 90;

/** While so many checkpoints are uncommitted no other is made: what is staged would only wait behind them. */
export const MAX_OPEN_CHECKPOINTS = 100;

/** From this share of a cap on, a checkpoint does not wait for its interval. */
const NEAR_CAP = 0.8;

/** Ticks come at the beginnings of slots, give or take: the one that is meant to complete may be a little early. */
const EARLY_SHARE = 0.1;

/** What a tick read. */
export interface TickView {
  readonly name: string;
  readonly pipeline: Progress | undefined;
  /** The interval has passed, or this tick goes on with what the checkpoint before could not take. */
  readonly isDue: boolean;
  /** Staged segments, at most {@link MAX_SEGMENTS_PER_CHECKPOINT}; none where they were not read. */
  readonly staged: readonly Versioned<SegmentHead>[];
  /** All that is staged, read or reckoned. */
  readonly stagedInAll: Backlog;
  /** Lowest number first, at most {@link MAX_OPEN_CHECKPOINTS}. */
  readonly open: readonly Versioned<CheckpointState>[];
  /** What remains of the checkpoints that were looked into. */
  readonly owned: readonly Versioned<SegmentHead>[];
}

export type CheckpointDecision = Decision<Progress, CheckpointChanges, CommitWork>;

export function decideCheckpoint(view: TickView, options: CheckpointOptions, now: number): CheckpointDecision {
  const { name, pipeline, isDue, staged, stagedInAll, open } = view;
  const isCompleting =
    staged.length > 0 && open.length < MAX_OPEN_CHECKPOINTS && (isDue || isNearCaps(stagedInAll, options));
  const checkpoint = isCompleting ? completed((pipeline?.lastCheckpoint ?? 0) + 1, staged, now) : undefined;
  const own = checkpoint
    ? staged.map(({ value, version }) => ({
        id: value.id,
        version,
        checkpoint: checkpoint.number,
        lease: dispatchLease(0, now),
      }))
    : [];
  const lost = ranOut(view.owned, now);
  const redispatched = lost.slice(0, MAX_REDISPATCHED_PER_COMMIT);
  const finished = open.filter(({ value }) => value.remainingSegments <= 0).slice(0, MAX_MARKED_PER_COMMIT);
  const markCommitted = finished.map(({ value, version }) => ({
    number: value.number,
    version,
    committedAt: value.lastFinishedAt ?? now,
  }));
  return {
    pipeline: {
      lastCheckpoint: checkpoint?.number ?? pipeline?.lastCheckpoint ?? 0,
      lastCompletedAt: checkpoint ? now : (pipeline?.lastCompletedAt ?? 0),
      backlog: uncommitted(
        stagedInAll,
        open.map(({ value }) => value),
      ),
      countedAt: now,
    },
    changes: {
      ...(checkpoint && { checkpoint, own }),
      redispatch: redispatched.map(({ value, version }) => ({
        id: value.id,
        version,
        lease: dispatchLease((value.lease?.attempts ?? 0) + 1, now),
      })),
      markCommitted,
    },
    messages: [
      ...(checkpoint
        ? packWork(
            name,
            staged.map(({ value }) => ({ ...value, checkpoint: checkpoint.number })),
          )
        : []),
      ...packWork(
        name,
        redispatched.map(({ value }) => value),
      ),
    ],
    counts: {
      completed: checkpoint ? 1 : 0,
      committed: markCommitted.length,
      redispatched: redispatched.length,
    },
    hasMore:
      (checkpoint !== undefined && stagedInAll.segments > staged.length) ||
      lost.length > redispatched.length ||
      finished.length === MAX_MARKED_PER_COMMIT,
  };
}

/** Whether the interval has passed. The last completion may be of another clock, ahead of ours: the distance counts. */
export function isCheckpointDue(pipeline: Progress | undefined, options: CheckpointOptions, now: number): boolean {
  const distance = Math.abs(now - (pipeline?.lastCompletedAt ?? 0));
  return distance >= options.checkpointIntervalMillis * (1 - EARLY_SHARE);
}

/** Whether what is staged nears a cap, beyond which the stager refuses. */
export const isNearCaps = ({ envelopes, bytes }: Backlog, options: CheckpointOptions): boolean =>
  envelopes >= NEAR_CAP * options.maxStagedEntries ||
  bytes + BYTES_PER_ENTRY * envelopes >= NEAR_CAP * options.maxStagedBytes;

export const sumOf = (heads: readonly Pick<SegmentHead, 'envelopes' | 'bytes'>[]): Backlog => ({
  segments: heads.length,
  envelopes: heads.reduce((sum, { envelopes }) => sum + envelopes, 0),
  bytes: heads.reduce((sum, { bytes }) => sum + bytes, 0),
});

function completed(number: number, staged: readonly Versioned<SegmentHead>[], now: number): CheckpointState {
  const heads = staged.map(({ value }) => value);
  const { segments, envelopes, bytes } = sumOf(heads);
  return {
    number,
    state: 'completed',
    segments,
    envelopes,
    bytes,
    remainingSegments: segments,
    remainingEnvelopes: envelopes,
    remainingBytes: bytes,
    oldestStagedAt: Math.min(...heads.map(({ stagedAt }) => stagedAt)),
    completedAt: now,
  };
}

/** What is staged, and what remains of open checkpoints; completing one moves work from the one to the other. */
const uncommitted = (staged: Backlog, open: readonly CheckpointState[]): Backlog =>
  open.reduce(
    (sum, { remainingSegments, remainingEnvelopes, remainingBytes }) => ({
      segments: sum.segments + remainingSegments,
      envelopes: sum.envelopes + remainingEnvelopes,
      bytes: sum.bytes + remainingBytes,
    }),
    staged,
  );
