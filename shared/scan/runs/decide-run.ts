import type { RowRange } from '../../model/row-range.ts';
import type { Versioned } from '../../model/store.ts';
import type { DeadPlan, Run } from './run.ts';
import { NO_COUNTS, type Split, type SplitCounts, splitId } from './split.ts';
import { bytesOfSplit } from './split-updates.ts';

/** The next step of one run: what was read and the time in, one write of the run out, with what belongs to it. Pure. */

/** What is known of a run that is looked at. */
export interface RunView {
  readonly read: Versioned<Run>;
  /** While it is planned: what this planner has. Absent where it is not known yet. */
  readonly own?: OwnPlan;
  /** While it reads: splits that have ended. Once that is all of them, what else is to be known. */
  readonly ended?: number;
  readonly failed?: number;
  readonly totals?: SplitCounts;
  /** Its end was told by this coordinator. */
  readonly isTold: boolean;
}

/** The plan of one planner, under an id that no other has; or why there is none. */
export type OwnPlan =
  | { readonly kind: 'ranges'; readonly id: string; readonly ranges: readonly RowRange[] }
  | { readonly kind: 'failed'; readonly problem: string };

export type RunEvent = 'batch' | 'planned' | 'done' | 'failed' | 'told' | 'expired';

export interface RunStep {
  readonly run: Run;
  readonly event: RunEvent;
  /** Splits that are written with it. */
  readonly planned: readonly Split[];
  /** Splits that nobody needs any more. */
  readonly expiring: readonly string[];
}

/** Of one commit: splits, and about their bytes. Far from 500 writes and 4 MiB, and few enough commits for 20,000. */
const MAX_BATCH = 400;
const MAX_BATCH_BYTES = 1024 * 1024;

/** Undefined: nothing is to be done now. */
export function stepOf(view: RunView, now: number): RunStep | undefined {
  const { value: run } = view.read;
  switch (run.state) {
    case 'planning':
      return planStep(run, view.own, now) ?? expiryStep(run);
    case 'reading':
      return endStep(run, view, now) ?? expiryStep(run);
    case 'done':
      return view.isTold && !run.isTold ? step('told', { ...run, isTold: true }) : expiryStep(run);
    case 'failed':
    case 'cancelled':
      return expiryStep(run);
    default:
      return run.state satisfies never;
  }
}

const step = (event: RunEvent, run: Run, others: Partial<RunStep> = {}): RunStep => ({
  ...{ run, event, planned: [], expiring: [] },
  ...others,
});

/**
 * The next batch of splits, noted in the run with the same commit, so that a planner that dies leaves nothing unknown. The
 * last batch makes the plan the run's.
 */
function planStep(run: Run, own: OwnPlan | undefined, now: number): RunStep | undefined {
  if (!own) return undefined;
  const { planning, ...unplanned } = run;
  if (own.kind === 'failed' || own.ranges.length === 0) {
    const problem = own.kind === 'failed' ? own.problem : 'its plan has no split: nothing is left of its ranges';
    const dead = [...run.dead, ...deadOf(planning)];
    return step('failed', { ...unplanned, state: 'failed', endedAt: now, problem, dead });
  }
  const isOurs = planning?.id === own.id;
  const dead = isOurs ? run.dead : [...run.dead, ...deadOf(planning)];
  const from = isOurs ? planning.written : 0;
  const planned = batchOf(run.id, own, from, now);
  const written = from + planned.length;
  if (written < own.ranges.length) {
    return step('batch', { ...run, dead, planning: { id: own.id, written } }, { planned });
  }
  const plan = { id: own.id, splits: own.ranges.length };
  return step('planned', { ...unplanned, state: 'reading', plan, dead, readingSince: now }, { planned });
}

const deadOf = (planning: Run['planning']): DeadPlan[] =>
  planning ? [{ id: planning.id, splits: planning.written, expiring: 0 }] : [];

function batchOf(run: string, { id, ranges }: OwnPlan & { kind: 'ranges' }, from: number, now: number): Split[] {
  const batch: Split[] = [];
  let bytes = 0;
  for (const range of ranges.slice(from, from + MAX_BATCH)) {
    const held = { run, range, counts: NO_COUNTS, failures: 0 };
    const name = splitId(id, from + batch.length);
    bytes += bytesOfSplit(name, held);
    if (batch.length > 0 && bytes > MAX_BATCH_BYTES) break;
    batch.push({ ...held, id: name, state: { kind: 'waiting', since: now } });
  }
  return batch;
}

/** As many splits have ended as the run has: found by a count, never assumed. */
function endStep(run: Run, { ended, failed = 0, totals }: RunView, now: number): RunStep | undefined {
  if (!run.plan || ended === undefined || ended < run.plan.splits) return undefined;
  const event = failed > 0 ? 'failed' : 'done';
  const problem = failed === 1 ? 'one split failed too often' : `${failed} splits failed too often`;
  return step(event, {
    ...run,
    state: event,
    endedAt: now,
    dead: [...run.dead, { id: run.plan.id, splits: run.plan.splits, expiring: 0 }],
    ...(totals && { totals }),
    ...(failed > 0 && { problem: `${problem}; everything else is finished. The status of the run says why` }),
  });
}

/** Splits of a plan that nobody needs get an expiry, a batch at a time. */
function expiryStep(run: Run): RunStep | undefined {
  const [first, ...others] = run.dead;
  if (!first) return undefined;
  const until = Math.min(first.splits, first.expiring + MAX_BATCH);
  const expiring = Array.from({ length: until - first.expiring }, (_, place) =>
    splitId(first.id, first.expiring + place),
  );
  const rest = until < first.splits ? [{ ...first, expiring: until }] : [];
  return step('expired', { ...run, dead: [...rest, ...others] }, { expiring });
}

/** A run that is cancelled, as somebody asks for it. Undefined where it has ended already. */
export function cancelled(run: Run, now: number): Run | undefined {
  if (run.state !== 'planning' && run.state !== 'reading') return undefined;
  const { planning, ...rest } = run;
  const own = run.plan ? [{ id: run.plan.id, splits: run.plan.splits, expiring: 0 }] : [];
  return { ...rest, state: 'cancelled', endedAt: now, dead: [...run.dead, ...deadOf(planning), ...own] };
}
