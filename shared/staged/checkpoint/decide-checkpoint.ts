import type { Decision } from '../../coordinator/decider.ts';
import { type LaneLook, committedBy, nextLookFrom, nextMarks, type Unsent } from './look.ts';
import {
  type Amount,
  BYTES_PER_ENTRY,
  type CheckpointChanges,
  type CheckpointState,
  NO_AMOUNT,
  type Progress,
  type SegmentHead,
  amountOf,
  scaled,
} from '../state.ts';
import { workOfHeads, workOfNumber, workOfRests } from './work.ts';
import { type OwnFingerprint, takenOver } from '../fingerprint.ts';
import type { CommitWork } from '../work-message.ts';

/** The decision of a tick: state and `now` in, one commit and its messages out. Pure. */

export interface CheckpointOptions {
  readonly checkpointIntervalMillis: number;
  /** Caps of uncommitted work, in envelopes and in bytes (payload and 256 per envelope). Those of rests are as large. */
  readonly maxStagedEntries: number;
  readonly maxStagedBytes: number;
  /** Ack deadline of the work's subscription: work that is not done by then is sent again. */
  readonly patienceMillis: number;
  readonly fingerprint: OwnFingerprint;
}

/** From this share of a cap on, a checkpoint does not wait for its interval. */
const NEAR_CAP = 0.8;

/** Ticks come at the beginnings of slots, give or take: the one that is meant to complete may be a little early. */
const EARLY_SHARE = 0.1;

/** Checkpoints that one commit marks as committed. */
const MAX_MARKED = 100;

/** What is known of one number that has to be sent as a whole. */
export interface NumberView {
  readonly number: number;
  /** Its segments in each lane. */
  readonly counts: readonly number[];
  /** Some of them. */
  readonly sample: readonly SegmentHead[];
}

/** What a tick read. */
export interface TickView {
  readonly name: string;
  readonly progress: Progress | undefined;
  /** Where numbers begin when there is no document: what was completed at least, by all else that is there. */
  readonly highest: number;
  /** All segments, those of no completed checkpoint too. */
  readonly segments: number;
  readonly rests: Amount;
  /** A checkpoint is due by the clock. */
  readonly isDue: boolean;
  /** What the next checkpoint would own; absent where none is to be completed. */
  readonly next?: NumberView;
  /** Every lane from the start of the look; none where nothing is staged. */
  readonly lanes: readonly LaneLook[];
  /** Whether segments of the format before this one are left; undefined where this tick did not look. */
  readonly hasOldFormat: boolean | undefined;
  /** Checkpoints that were read, by number. */
  readonly checkpoints: ReadonlyMap<number, CheckpointState>;
  readonly unsent: Unsent;
  /** The numbers that are to be sent as a whole. */
  readonly whole: readonly NumberView[];
  /** To be sent for their age: of the full look. */
  readonly aged: readonly SegmentHead[];
  /** Rests to be tried, by id. */
  readonly dueRests: readonly string[];
}

/** A message, and the numbers of which everything that was seen is sent with it and the others. */
export interface OutgoingWork {
  readonly work: CommitWork;
  readonly numbers: readonly number[];
}

export type CheckpointDecision = Decision<Progress, CheckpointChanges, OutgoingWork>;

/** Throws a `RedeliverError` where the values that identities hang on are others than the pipeline's, and not confirmed. */
export function decideCheckpoint(view: TickView, options: CheckpointOptions, now: number): CheckpointDecision {
  const { name, progress, next } = view;
  const completedBefore = progress?.completed ?? view.highest;
  const backlog = backlogOf(view);
  const isCompleting = next?.counts.some((count) => count > 0) === true && (view.isDue || isNearCaps(backlog, options));
  const complete = isCompleting ? completedOf(next, now) : undefined;
  const completed = complete?.number ?? completedBefore;
  const committed = committedOf(view, completedBefore);
  const finished = finishedOf(progress?.committed ?? committed ?? 0, committed ?? 0, now);
  const whole = [...view.whole, ...(complete && next ? [next] : [])];
  const { late } = view.unsent;
  const work: OutgoingWork[] = [
    ...whole.flatMap(({ number, counts, sample }) =>
      outgoing(workOfNumber(name, number, counts, amountOf(sample)), [number]),
    ),
    ...outgoing(
      workOfHeads(name, [...late, ...view.aged]),
      late.map((head) => head.number),
    ),
    ...outgoing(workOfRests(name, view.dueRests), []),
  ];
  return {
    pipeline: {
      completed,
      lastCompletedAt: complete ? now : (progress?.lastCompletedAt ?? 0),
      ...(committed !== undefined && { committed: Math.min(committed, finished.through) }),
      lookFrom: nextLookFrom(completedBefore, view.lanes),
      backlog,
      rests: view.rests,
      countedAt: now,
      marks: nextMarks(progress?.marks ?? [], completed, now),
      fingerprint: takenOver(progress?.fingerprint, options.fingerprint),
    },
    changes: { ...(complete && { complete }), committed: finished.changes },
    messages: work,
    counts: { completed: complete ? 1 : 0, committed: finished.changes.length, sent: work.length },
    hasMore: committed !== undefined && finished.through < committed,
  };
}

const outgoing = (work: readonly CommitWork[], numbers: readonly number[]): OutgoingWork[] =>
  work.map((each) => ({ work: each, numbers }));

/** Whether the slot of the last completion is over. A clock that was set back is in another slot too. */
export function isCheckpointDue(progress: Progress | undefined, options: CheckpointOptions, now: number): boolean {
  const { checkpointIntervalMillis: interval } = options;
  const slotOf = (at: number): number => Math.floor(at / interval + EARLY_SHARE);
  return !progress?.lastCompletedAt || slotOf(now) !== slotOf(progress.lastCompletedAt);
}

/** Whether what is staged nears a cap, beyond which the stager refuses. */
export const isNearCaps = ({ envelopes, bytes }: Amount, options: CheckpointOptions): boolean =>
  envelopes >= NEAR_CAP * options.maxStagedEntries ||
  bytes + BYTES_PER_ENTRY * envelopes >= NEAR_CAP * options.maxStagedBytes;

/** By the count and all heads that were read; without any, by what one weighed at the last tick. */
function backlogOf({ segments, lanes, next, whole, progress }: TickView): Amount {
  if (segments === 0) return NO_AMOUNT;
  const heads = [
    ...lanes.flatMap((lane) => lane.heads),
    ...(next?.sample ?? []),
    ...whole.flatMap(({ sample }) => sample),
  ];
  return scaled(heads.length > 0 ? amountOf(heads) : (progress?.backlog ?? NO_AMOUNT), segments);
}

function completedOf({ number, counts, sample }: NumberView, now: number): CheckpointState {
  const segments = counts.reduce((sum, count) => sum + count, 0);
  return {
    number,
    completedAt: now,
    amount: scaled(amountOf(sample), segments),
    oldestStagedAt: Math.min(now, ...sample.map(({ stagedAt }) => stagedAt)),
  };
}

/**
 * Found, never counted. Segments of the format before this one count as number 0: while one is left, or nobody has
 * looked, it stays as it was.
 */
function committedOf(
  { progress, segments, lanes, hasOldFormat }: TickView,
  completedBefore: number,
): number | undefined {
  const before = progress?.committed;
  if (segments === 0) return completedBefore;
  if (hasOldFormat === true || (hasOldFormat === undefined && before === undefined)) return before;
  return committedBy(before ?? 0, completedBefore, lanes);
}

/** The checkpoints that become committed, as many as fit in one commit, and the number up to which they go. */
function finishedOf(before: number, committed: number, now: number) {
  const through = Math.min(committed, before + MAX_MARKED);
  const changes = Array.from({ length: Math.max(0, through - before) }, (_, index) => ({
    number: before + index + 1,
    committedAt: now,
  }));
  return { through: Math.max(before, through), changes };
}
