import type { CheckpointState, Mark, Progress, SegmentHead } from '../state.ts';

/**
 * What a look at the segments that are left tells. Pure. A look reads the ids of each lane from a number on, in their
 * order. It comes after `completed` was read: whatever was acknowledged before that checkpoint was completed lies in
 * its range, unless it is in its row or set apart.
 */

/**
 * A stager uses a number for a minute at most, and a push ends ten minutes later, a write of the client's with it. A
 * segment with a lower number than was completed so long ago is a late repeat of one that was finished.
 */
export const LATE_MILLIS = 15 * 60_000;

const MARK_MILLIS = 60_000;

/** One lane from the start of the look on, at most up to its limit. */
export interface LaneLook {
  /** In the order of their ids. */
  readonly heads: readonly SegmentHead[];
  /** Nothing lies beyond the last of them. */
  readonly isWhole: boolean;
}

/** The greatest number that was completed at least a quarter of an hour ago; 0 where nobody knows. */
export const completedLongAgo = (marks: readonly Mark[], now: number): number =>
  Math.max(0, ...marks.flatMap(({ number, at }) => (at <= now - LATE_MILLIS ? [number] : [])));

/**
 * Where a look starts: never above what may still appear, nor above what is not committed, nor above what the last look
 * found. One that started at `committed` would miss what a slow push stores below it.
 */
export const startOfLook = (
  { committed = 0, lookFrom = 0, marks }: Pick<Progress, 'committed' | 'lookFrom' | 'marks'>,
  now: number,
): number => Math.min(committed + 1, lookFrom, completedLongAgo(marks, now));

/** Where the next look may start at most. */
export const nextLookFrom = (completed: number, lanes: readonly LaneLook[]): number =>
  Math.min(completed + 1, ...lanes.flatMap(({ heads: [lowest] }) => (lowest ? [lowest.number] : [])));

/** The marks with the one of now, where it is due; of those that are a quarter of an hour old only the last is kept. */
export function nextMarks(marks: readonly Mark[], completed: number, now: number): readonly Mark[] {
  // A clock that was set back would keep its marks forever: what lies ahead is taken for now.
  const known = marks.map(({ number, at }) => ({ number, at: Math.min(at, now) }));
  const last = known.at(-1);
  const all = last && now - last.at < MARK_MILLIS ? known : [...known, { number: completed, at: now }];
  const lastOld = all.findLastIndex(({ at }) => at <= now - LATE_MILLIS);
  return all.slice(Math.max(0, lastOld));
}

/**
 * What is committed by a look: the number below the lowest segment that is left, lane by lane, and at most what was
 * completed before the look. It never falls.
 *
 * @param lanes every lane, from the start of the look on.
 */
export const committedBy = (before: number, completed: number, lanes: readonly LaneLook[]): number =>
  Math.max(
    before,
    Math.min(completed, ...lanes.map(({ heads: [lowest] }) => (lowest ? lowest.number - 1 : completed))),
  );

/** What of completed checkpoints has to be sent to committers, again or for the first time. */
export interface Unsent {
  /** Everything of these numbers: nothing of it was sent yet, or its time has run out. */
  readonly numbers: readonly number[];
  /** These alone: stored after the rest of their number was sent. */
  readonly late: readonly SegmentHead[];
}

/**
 * @param heads what looks found of completed checkpoints.
 * @param checkpoints by number; one that is not there was never sent.
 * @param now by our clock, for times that have run out.
 * @param patienceMillis after that work which was sent is taken for lost: the ack deadline of its subscription.
 */
export function unsentOf(
  heads: readonly SegmentHead[],
  checkpoints: ReadonlyMap<number, CheckpointState>,
  now: number,
  patienceMillis: number,
): Unsent {
  const numbers = new Set<number>();
  const late: SegmentHead[] = [];
  for (const head of heads) {
    const sentAt = checkpoints.get(head.number)?.sentAt;
    if (sentAt === undefined || now >= sentAt + patienceMillis) numbers.add(head.number);
    else if (head.createdAt >= sentAt) late.push(head);
  }
  return { numbers: [...numbers].toSorted((left, right) => left - right), late };
}

/**
 * Of segments that no checkpoint's time is kept for, those to send at a look that comes once in `everyMillis`: at once,
 * and again whenever the patience has passed since they were stored.
 */
export const dueByAge = (
  heads: readonly SegmentHead[],
  now: number,
  everyMillis: number,
  patienceMillis: number,
): readonly SegmentHead[] => heads.filter(({ createdAt }) => Math.abs(now - createdAt) % patienceMillis < everyMillis);
