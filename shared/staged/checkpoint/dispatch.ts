import { CLOCK_SKEW_MILLIS, hasRunOut } from '../../model/lease.ts';
import type { CheckpointState, SegmentHead, SegmentLease } from '../state.ts';
import type { CommitWork } from '../work-message.ts';
import type { Versioned } from '../../model/store.ts';

/**
 * How the work of completed checkpoints reaches a committer: a message, and for its time a lease of nobody's. Where the
 * lease runs out the message was lost, or its committer was, and the work is sent again, each time with more patience.
 * Pure.
 */

const FIRST_DISPATCH_MILLIS = 30_000;
const LONGEST_DISPATCH_MILLIS = 600_000;

/** Segments, and bytes of their payloads, that one invocation of a committer is given at once. */
const MAX_SEGMENTS_PER_MESSAGE = 8;
const MAX_BYTES_PER_MESSAGE = 8 * 1024 * 1024;

/** The lease of work that is sent now, for the `attempts`-th time after the first. */
export const dispatchLease = (attempts: number, now: number): SegmentLease => ({
  holder: '',
  expiresAt: now + Math.min(FIRST_DISPATCH_MILLIS * 2 ** Math.min(attempts, 16), LONGEST_DISPATCH_MILLIS),
  attempts,
});

/** The owned segments that nobody has any more, oldest first. */
export const ranOut = (owned: readonly Versioned<SegmentHead>[], now: number): readonly Versioned<SegmentHead>[] =>
  owned
    .filter(({ value }) => hasRunOut(value.lease?.expiresAt ?? 0, now, LONGEST_DISPATCH_MILLIS))
    .toSorted((left, right) => left.value.stagedAt - right.value.stagedAt);

/** Messages for segments of any checkpoints, in the order in which they were staged. A segment above the bound goes alone. */
export function packWork(pipeline: string, heads: readonly SegmentHead[]): CommitWork[] {
  const packed: { work: CommitWork; bytes: number }[] = [];
  for (const { id, bytes, checkpoint = 0 } of heads.toSorted((left, right) => left.stagedAt - right.stagedAt)) {
    const index = packed.findLastIndex(({ work }) => work.checkpoint === checkpoint);
    const last = packed[index];
    const fits =
      last && last.work.segments.length < MAX_SEGMENTS_PER_MESSAGE && last.bytes + bytes <= MAX_BYTES_PER_MESSAGE;
    if (fits) {
      packed[index] = { work: { ...last.work, segments: [...last.work.segments, id] }, bytes: last.bytes + bytes };
    } else {
      packed.push({ work: { pipeline, checkpoint, segments: [id] }, bytes });
    }
  }
  return packed.map(({ work }) => work);
}

/**
 * Checkpoint that was looked into → when a lease of its segments may have run out at the earliest. Before that nobody
 * needs to read them.
 */
export type Looks = ReadonlyMap<number, number>;

/** The open checkpoints to look into now, lowest number first. */
export const dueLooks = (open: readonly CheckpointState[], looks: Looks, now: number): readonly CheckpointState[] =>
  open.filter(({ number, remainingSegments, completedAt }) => {
    if (remainingSegments <= 0) return false;
    const at = looks.get(number);
    return at === undefined ? hasRunOut(completedAt + FIRST_DISPATCH_MILLIS, now, FIRST_DISPATCH_MILLIS) : at <= now;
  });

/**
 * When to look next, after some checkpoints were looked into. Those that are open no more are forgotten.
 *
 * @param owned what the looked ones hold, as it is after this tick.
 */
export function nextLooks(
  open: readonly CheckpointState[],
  looks: Looks,
  looked: readonly CheckpointState[],
  owned: readonly SegmentHead[],
  now: number,
): Looks {
  const next = new Map<number, number>();
  for (const { number } of open) {
    const known = looks.get(number);
    if (known !== undefined) next.set(number, known);
  }
  for (const { number } of looked) {
    const ends = owned.flatMap((head) => (head.checkpoint === number ? [head.lease?.expiresAt ?? now] : []));
    // Nothing found: it was finished while it was read, and will not be open next time.
    const earliest = ends.length === 0 ? now + FIRST_DISPATCH_MILLIS : Math.min(...ends);
    // A lease of a clock that is far ahead has to be looked at again before it ends by our own.
    next.set(number, Math.min(earliest, now + LONGEST_DISPATCH_MILLIS) + CLOCK_SKEW_MILLIS);
  }
  return next;
}
