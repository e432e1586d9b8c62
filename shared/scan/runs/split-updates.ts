import { type BackoffSchedule, backoffDelay } from '../../base/backoff.ts';
import type { Random } from '../../base/random.ts';
import type { Bound, RowRange } from '../../model/row-range.ts';
import type { Units } from '../../slots/ports.ts';
import type { SlotUpdate } from '../../slots/session.ts';
import type { HeldSplit, Split, SplitCounts, SplitState, SplitWrite } from './split.ts';

/** Everything that a slot writes of its splits. Pure: each makes an edit of whatever the slot has by then. */

export type SplitUpdate = SlotUpdate<HeldSplit, SplitWrite>;

/** How far a split is: everything before what is left of it is handed on, and counted. */
export interface SplitProgress {
  readonly range: RowRange;
  readonly counts: SplitCounts;
}

/** A split that failed so often in a row is not tried again: it ends its run in failure. */
export const MAX_FAILURES = 10;

const FAILURE_BACKOFF: BackoffSchedule = { initialMillis: 10_000, maxMillis: 600_000, jitter: 0.2 };

/** The split waits in its own document, for any slot. */
export const waitingSplit = (id: string, held: HeldSplit, since: number): SplitWrite =>
  written(id, held, { kind: 'waiting', since });

const written = (id: string, held: HeldSplit, state: SplitState): SplitWrite => ({ split: { ...held, id, state } });

/** It went on. Whatever failed before it did counts no more. */
export const moveSplit = (id: string, progress: SplitProgress): SplitUpdate => ({
  edit: (units) => {
    const held = units[id];
    return held && { units: { ...units, [id]: moved(held, progress) }, changes: [] };
  },
});

/** Nothing of it is left. */
export const finishSplit = (id: string, progress: SplitProgress): SplitUpdate =>
  ending(id, (held) => written(id, moved(held, progress), { kind: 'done' }));

/** Another slot, or this one later, goes on with it. */
export const returnSplit = (id: string, progress: SplitProgress | undefined, now: number): SplitUpdate =>
  ending(id, (held) => waitingSplit(id, progress ? moved(held, progress) : held, now));

/**
 * It ended in failure. It waits, longer each time that it fails without having gone on, and the tenth time it does not.
 *
 * @param progress how far it came; absent: nowhere.
 * @param problem why, and what to do.
 */
export const failSplit = (
  id: string,
  progress: SplitProgress | undefined,
  problem: string,
  now: number,
  random: Random,
): SplitUpdate =>
  ending(id, (before) => {
    const held = progress ? moved(before, progress) : before;
    const failures = held.failures + 1;
    const failed = { ...held, failures, problem: problem.slice(0, MAX_PROBLEM) };
    if (failures >= MAX_FAILURES) return written(id, failed, { kind: 'failed' });
    return waitingSplit(id, failed, now + backoffDelay(FAILURE_BACKOFF, failures, random));
  });

/** Every split of a run goes back: the run has ended. */
export const returnRun = (run: string, now: number): SplitUpdate => ({
  edit: (units) => {
    const [own, others] = [ofRun(units, run, true), ofRun(units, run, false)];
    if (own.length === 0) return undefined;
    const changes = own.map(([id, held]) => waitingSplit(id, held, now));
    return { units: Object.fromEntries(others), changes };
  },
});

const ofRun = (units: Units<HeldSplit>, run: string, isOf: boolean): [string, HeldSplit][] =>
  Object.entries(units).filter(([, held]) => (held.run === run) === isOf);

const ending = (id: string, write: (held: HeldSplit) => SplitWrite): SplitUpdate => ({
  edit: (units) => {
    const { [id]: held, ...others } = units;
    return held && { units: others, changes: [write(held)] };
  },
});

/** Failures count anew where it went on. */
function moved(before: HeldSplit, { range, counts }: SplitProgress): HeldSplit {
  if (isSameStart(before.range.start, range.start)) return { ...before, range, counts };
  return { run: before.run, range, counts, failures: 0 };
}

const isSameStart = (left: Bound, right: Bound): boolean =>
  left.kind === right.kind && (left.kind === 'unbounded' || (right.kind !== 'unbounded' && left.key.equals(right.key)));

/** Of a problem's text: a slot's document holds one for each of its splits. */
const MAX_PROBLEM = 1000;

/** About what a split takes in its slot's document. */
export const bytesOfSplit = (id: string, { run, range, problem }: HeldSplit): number =>
  FIXED_BYTES + id.length + run.length + keyBytes(range.start) + keyBytes(range.end) + 3 * (problem?.length ?? 0);

/** Names of fields, counts and kinds. */
const FIXED_BYTES = 250;

const keyBytes = (bound: Bound): number => (bound.kind === 'unbounded' ? 0 : bound.key.length);

/** The state in which a slot has a waiting split that it takes. */
export const heldSplit = (split: Split, slot: number, epoch: number): Split => ({
  ...split,
  state: { kind: 'held', slot, epoch },
});
