import type { Decision } from '../../coordinator/decider.ts';
import { hasRunOut, takeOver } from '../../slots/lease.ts';
import type { SlotRead } from '../../slots/ports.ts';
import { type RunStep, type RunView, stepOf } from './decide-run.ts';
import type { ScanChanges, ScanProgress } from './ports.ts';
import type { Run } from './run.ts';
import type { HeldSplit } from './split.ts';
import { waitingSplit } from './split-updates.ts';

/** The decision of a tick over all open runs of a pipeline. Pure. */

/** What a tick read. */
export interface ScanView {
  /** The oldest first. */
  readonly runs: readonly RunView[];
  /** Absent where this tick did not look at them. */
  readonly slots?: ReadonlyMap<number, SlotRead<HeldSplit>>;
}

export type ScanDecision = Decision<ScanProgress, ScanChanges, Run>;

/** How long documents are kept that nobody needs, for people; a TTL policy on `expireAt` deletes them then. */
const KEPT_MILLIS = 30 * 24 * 60 * 60 * 1000;

const NO_CHANGES: ScanChanges = { runs: [], planned: [], expiring: [], slots: [] };

/**
 * One step of one run a commit, and slots that ran out; the ends of runs are told once nothing else is to be done, so that
 * a topic that takes nothing holds up no run.
 */
export function decideScan(before: ScanProgress | undefined, view: ScanView, now: number): ScanDecision {
  const progress = { ...before, commits: (before?.commits ?? 0) + 1 };
  const steps = view.runs.flatMap((run) => {
    const step = stepOf(run, now);
    return step ? [{ step, version: run.read.version }] : [];
  });
  const [first] = steps;
  const slots = first ? [] : silentSlots(view, now);
  const messages = first || slots.length > 0 ? [] : view.runs.filter(isUntold).map(({ read }) => read.value);
  return {
    pipeline: first ? progressAfter(progress, first.step) : progress,
    changes: first ? changesOf(first.step, first.version, now) : { ...NO_CHANGES, slots },
    messages,
    counts: {
      planned: first?.step.event === 'planned' ? 1 : 0,
      done: first?.step.event === 'done' ? 1 : 0,
      failed: first?.step.event === 'failed' ? 1 : 0,
      told: messages.length,
      taken: slots.length,
    },
    // The end of a run that was told is noted with another commit.
    hasMore: steps.length > 1 || slots.length > 0 || messages.length > 0 || (first && hasNext(first.step)) === true,
  };
}

/** Whether a run needs another commit after a step of it. */
const hasNext = ({ run }: RunStep): boolean =>
  run.planning !== undefined || run.dead.length > 0 || (run.state === 'done' && !run.isTold);

const isUntold = ({ read: { value }, isTold }: RunView): boolean => value.state === 'done' && !value.isTold && !isTold;

function changesOf({ run, planned, expiring }: RunStep, version: string, now: number): ScanChanges {
  return {
    runs: [{ run, version }],
    planned,
    expiring: expiring.length === 0 ? [] : [{ run: run.id, ids: expiring, expireAt: now + KEPT_MILLIS }],
    slots: [],
  };
}

function progressAfter({ commits, lastDone }: ScanProgress, { event, run }: RunStep): ScanProgress {
  const isLater = event === 'done' && (lastDone === undefined || lastDone.startedAt < run.startedAt);
  const last = isLater ? { run: run.id, startedAt: run.startedAt } : lastDone;
  return { commits, ...(last && { lastDone: last }) };
}

/** Those whose units nobody works at: they are to wait. As many as are surely within one commit: one. */
function silentSlots({ slots }: ScanView, now: number): ScanChanges['slots'] {
  const silent = [...(slots ?? [])].find(([, read]) => hasUnits(read) && hasRunOut(read));
  return silent ? [takeOver(silent[0], silent[1], '', now, waitingSplit)] : [];
}

const hasUnits = ({ value }: SlotRead<HeldSplit>): boolean => Object.keys(value.units).length > 0;
