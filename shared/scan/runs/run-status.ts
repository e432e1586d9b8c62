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

/** Looks that find splits on their way from one document to another. The last one is taken as it is. */
const MAX_LOOKS = 3;

/** Undefined where there is no such run. */
export async function readRunStatus(id: string, store: RunsStore, signal: AbortSignal): Promise<RunStatus | undefined> {
  for (let looks = 1; ; looks += 1) {
    const run = (await store.readRun(id, signal))?.value;
    if (!run) return undefined;
    const slots = [...(await store.readSlots(signal))].map(([slot, read]) => slotStatus(slot, read, id));
    // In this order: whatever its own document says of a split that is still held was in the sum too.
    const [stored, splits, failing] = await Promise.all([
      run.totals ?? store.sumCounts(id, signal),
      countsOf(run, store, signal),
      store.readFailing(id, MOST_FAILING, signal),
    ]);
    const held = slots.flatMap((slot) => Object.keys(slot.splits));
    const own = run.totals ? [] : await store.readSplits(id, held, signal);
    const { counts, isSettled } = countsSoFar(stored, slots, own);
    if (isSettled || run.totals || looks === MAX_LOOKS) {
      return { run, splits, counts: run.totals ?? counts, slots, failing };
    }
  }
}

/**
 * What was read so far: the sum of all splits' own documents, and of those that slots have what their slots know beyond
 * that. The position of a split is its slot's if the epoch of that slot is the one which its own document names, else
 * its own document's: then it changed hands between the two reads. Pure.
 *
 * @param stored the sum over the own documents of all splits of the run.
 * @param own the own documents of those that are in the slots' documents.
 * @returns with `isSettled`, whether none changed hands meanwhile, so that nothing is missing or counted twice.
 */
export function countsSoFar(
  stored: SplitCounts,
  slots: readonly Pick<SlotStatus, 'slot' | 'epoch' | 'splits'>[],
  own: readonly Split[],
): { readonly counts: SplitCounts; readonly isSettled: boolean } {
  const documents = new Map(own.map((split) => [split.id, split]));
  const beyond: SplitCounts[] = [];
  let isSettled = true;
  for (const { slot, epoch, splits } of slots) {
    for (const [id, held] of Object.entries(splits)) {
      const document = documents.get(id);
      const isIts = document?.state.kind === 'held' && document.state.slot === slot && document.state.epoch === epoch;
      if (isIts) beyond.push(since(document.counts, held.counts));
      else isSettled = false;
    }
  }
  return { counts: sumOfCounts([stored, ...beyond]), isSettled };
}

const since = (before: SplitCounts, now: SplitCounts): SplitCounts =>
  Object.fromEntries(COUNT_NAMES.map((name) => [name, now[name] - before[name]])) as unknown as SplitCounts;

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
