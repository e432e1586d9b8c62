import type { Decider } from '../../coordinator/decider.ts';
import { hasRunOut } from '../../slots/lease.ts';
import type { SlotRead } from '../../slots/ports.ts';
import type { Versioned } from '../../model/store.ts';
import { decideScan, type ScanView } from './decide-scan.ts';
import type { RunView } from './decide-run.ts';
import { OwnPlans, type PlannerDependencies } from './own-plans.ts';
import type { AnnounceEnd, ScanChanges, ScanCoordinatorStore, ScanProgress } from './ports.ts';
import { isUnderWay, type Run } from './run.ts';
import type { RunsWatch } from './runs-watch.ts';
import type { HeldSplit } from './split.ts';

export interface ScanDeciderDependencies extends PlannerDependencies {
  readonly store: ScanCoordinatorStore;
  readonly announce: AnnounceEnd;
  /** Of the instance: measures what its ticks see. Absent where nobody watches, as in a slot. */
  readonly watch?: RunsWatch;
}

export type ScanDecider = Decider<ScanProgress, ScanView, ScanChanges, Run>;

const TICK_MILLIS = 10_000;

/** The rest of a long plan is left to the next tick, so that none is cut short. */
const WORK_MILLIS = 5_000;

/** A plan of 20,000 splits is 50 commits. */
const MAX_ROUNDS = 100;

/** Between two looks at the slots, for those whose owners fell silent. Slots look too, and more often. */
const LOOK_AT_SLOTS_MILLIS = 30_000;

/**
 * What a coordinator does for a scanned pipeline: it plans runs, frees what slots had that fell silent, ends runs and tells
 * their ends. For one invocation, of `coordinate` or of a slot.
 *
 * Whatever a crash leaves, a later tick repairs: a plan that is not the run's is not seen by anybody, and gets an expiry; an
 * end that is not noted as told is told again.
 */
export function scanDecider(name: string, dependencies: ScanDeciderDependencies): ScanDecider {
  const { store, announce, watch, runtime } = dependencies;
  const { logger, metrics } = runtime;
  const plans = new OwnPlans(dependencies);
  const told = new Set<string>();
  let tickedAt = 0;
  let lookedAtSlotsAt = -Infinity;
  let isAnySilent = false;
  let isPlanning = false;
  /** Looks since the last commit that happened. */
  let looks = 0;
  return {
    name,
    intervalMillis: TICK_MILLIS,
    maxRounds: MAX_ROUNDS,
    counted: ['planned', 'done', 'failed', 'told', 'taken'],
    async hasWork(now, signal) {
      tickedAt = now;
      const views = await readViews(signal);
      if (now - lookedAtSlotsAt >= LOOK_AT_SLOTS_MILLIS && views.some(({ read }) => isUnderWay(read.value))) {
        lookedAtSlotsAt = now;
        const slots = await store.readSlots(signal);
        isAnySilent = [...slots.values()].some(isSilent);
        watch?.seesSlots(slots);
      }
      watch?.seesRuns(views, now);
      return isAnySilent || views.some(needsCoordinator);
    },
    // A plan that takes several ticks must not be begun anew by another in between.
    keepsLease: () => isPlanning,
    async read(_turn, signal) {
      const views = await readViews(signal);
      const planning = views.map(({ read }) => read.value).filter(({ state }) => state === 'planning');
      const own = await plans.read(planning, signal);
      isPlanning = planning.length > 0;
      const runs = views.map((view) => {
        const plan = own.get(view.read.value.id);
        return plan ? { ...view, own: plan } : view;
      });
      // A run of which nothing can be written holds up no other: another one has the first turn then.
      const turn = looks % Math.max(1, runs.length);
      looks += 1;
      const inTurn = [...runs.slice(turn), ...runs.slice(0, turn)];
      return { runs: inTurn, ...(isAnySilent && { slots: await store.readSlots(signal) }) };
    },
    decide({ pipeline, now }, view) {
      const decision = decideScan(pipeline, view, now);
      return { ...decision, hasMore: decision.hasMore && now - tickedAt < WORK_MILLIS };
    },
    committed({ now }, { runs, slots }, { changes, counts }) {
      looks = 0;
      if (slots && changes.slots.length === 0) isAnySilent = false;
      const left = runs.filter(({ read }) => read.value.state === 'planning').length;
      isPlanning = left > changes.runs.filter(({ run }) => run.state !== 'planning').length;
      if (counts.done) metrics.count('scanRunsCompleted', counts.done);
      if (counts.failed) metrics.count('scanRunsFailed', counts.failed);
      for (const { run } of changes.runs) {
        if (run.endedAt === now) tellEnd(run);
      }
    },
    async publish(runs, signal) {
      const results = await Promise.allSettled(
        runs.map(async (run) => {
          await announce(run, await store.readOptions(run.id, signal), signal);
          told.add(run.id);
        }),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    },
    end: () => {
      plans.end();
    },
  };

  async function readViews(signal: AbortSignal): Promise<readonly RunView[]> {
    const runs = await store.readOpenRuns(signal);
    return Promise.all(runs.map((read) => viewOf(read, signal)));
  }

  async function viewOf(read: Versioned<Run>, signal: AbortSignal): Promise<RunView> {
    const { value: run } = read;
    const view = { read, isTold: told.has(run.id) };
    if (run.state !== 'reading' || !run.plan) return view;
    const ended = await store.countEnded(run.id, run.plan, signal);
    if (ended < run.plan.splits) return { ...view, ended };
    const failed = await store.countFailed(run.id, run.plan, signal);
    return { ...view, ended, failed, totals: await store.sumCounts(run.id, signal) };
  }

  function tellEnd({ id, state, problem, totals, startedAt, endedAt = 0 }: Run): void {
    const fields = {
      run: id,
      millis: endedAt - startedAt,
      ...(totals && { totals }),
      ...(problem !== undefined && { problem }),
    };
    if (state === 'done') logger.log('INFO', 'a run is done', fields);
    else logger.log('ERROR', 'a run failed', fields);
  }
}

const isSilent = (read: SlotRead<HeldSplit>): boolean => Object.keys(read.value.units).length > 0 && hasRunOut(read);

/** A run that only reads needs none. */
const needsCoordinator = ({ read: { value: run }, ended = 0 }: RunView): boolean =>
  run.state !== 'reading' || run.dead.length > 0 || ended >= (run.plan?.splits ?? 0);
