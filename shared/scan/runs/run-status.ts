import { hasRunOut, LEASE_MILLIS } from '../../slots/lease.ts';
import type { SlotRead } from '../../slots/ports.ts';
import type { RunsStore } from './ports.ts';
import type { Run } from './run.ts';
import { COUNT_NAMES, type HeldSplit, type Split, type SplitCounts, sumOfCounts } from './split.ts';

/** What people see of a run while it goes on. */
export interface RunStatus {
  readonly run: Run;
  readonly splits: {
    readonly total: number;
    readonly done: number;
    readonly failed: number;
    readonly held: number;
    /** Those whose time has not come included. */
    readonly waiting: number;
  };
  /** So far; exact but for what slots have not committed yet. */
  readonly counts: SplitCounts;
  readonly slots: readonly SlotStatus[];
  /** Splits whose last attempt failed, the most often failed first. */
  readonly failing: readonly Split[];
}

export interface SlotStatus {
  readonly slot: number;
  /** Empty: nobody's. */
  readonly owner: string;
  readonly epoch: number;
  /** Until the lease runs out, where somebody has it; 0 where it has. */
  readonly leaseMillis: number;
  /** Splits of the run that it has. */
  readonly splits: Readonly<Record<string, HeldSplit>>;
}

const MOST_FAILING = 5;

/** Undefined where there is no such run. */
export async function readRunStatus(id: string, store: RunsStore, signal: AbortSignal): Promise<RunStatus | undefined> {
  const run = (await store.readRun(id, signal))?.value;
  if (!run) return undefined;
  const slots = [...(await store.readSlots(signal))].map(([slot, read]) => slotStatus(slot, read, id));
  const held = Object.fromEntries(slots.flatMap(({ splits }) => Object.entries(splits)));
  const [stored, own, failing] = await Promise.all([
    store.sumCounts(id, signal),
    store.readSplits(id, Object.keys(held), signal),
    store.readFailing(id, MOST_FAILING, signal),
  ]);
  const counts =
    run.totals ?? sumOfCounts([stored, ...own.map(({ id: name, counts: before }) => since(before, held[name]))]);
  return { run, splits: await countsOf(run, store, signal), counts, slots, failing };
}

/** What a slot knows beyond a split's own document. */
function since(before: SplitCounts, held: HeldSplit | undefined): SplitCounts {
  const now = held?.counts ?? before;
  return Object.fromEntries(COUNT_NAMES.map((name) => [name, now[name] - before[name]])) as unknown as SplitCounts;
}

async function countsOf({ id, plan }: Run, store: RunsStore, signal: AbortSignal): Promise<RunStatus['splits']> {
  if (!plan) return { total: 0, done: 0, failed: 0, held: 0, waiting: 0 };
  const [ended, failed, waiting] = await Promise.all([
    store.countEnded(id, plan, signal),
    store.countFailed(id, plan, signal),
    store.countWaiting(id, plan, signal),
  ]);
  const held = Math.max(0, plan.splits - ended - waiting);
  return { total: plan.splits, done: ended - failed, failed, held, waiting };
}

function slotStatus(slot: number, read: SlotRead<HeldSplit>, run: string): SlotStatus {
  const { owner, epoch, units } = read.value;
  return {
    ...{ slot, owner, epoch },
    leaseMillis: owner === '' || hasRunOut(read) ? 0 : LEASE_MILLIS - (read.readAt - read.updatedAt),
    splits: Object.fromEntries(Object.entries(units).filter(([, held]) => held.run === run)),
  };
}
