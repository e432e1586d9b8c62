import { describeError } from '../base/logging.ts';
import type { Runtime } from '../base/runtime.ts';
import { Claims } from '../slots/claims.ts';
import type { SlotDependencies } from '../slots/leased-slot.ts';
import { openSlot } from '../slots/open-slot.ts';
import type { SlotSession } from '../slots/session.ts';
import type { RunWork, SlotTools } from './run-work.ts';
import type { ScanStore } from './runs/ports.ts';
import type { HeldSplit, SplitWrite } from './runs/split.ts';
import { SlotWork } from './slot-work.ts';
import type { SessionCounts, SessionEnd } from './split-readings.ts';

/** What an invocation of a slot did, as it is answered. */
export type SlotReport =
  /** No run has anything left to do. */
  | { readonly outcome: 'idle' }
  /** Another invocation has the slot, and is at work. */
  | { readonly outcome: 'held'; readonly by: string }
  | ({ readonly outcome: 'worked' } & SessionCounts);

export interface SlotReading {
  /** From 0. */
  readonly slot: number;
  /** Unique to this invocation. */
  readonly owner: string;
  readonly store: ScanStore;
  readonly giveBack: SlotDependencies<HeldSplit, SplitWrite>['giveBack'];
  readonly bytesOf: (id: string, held: HeldSplit) => number;
  readonly advance: (signal: AbortSignal) => Promise<void>;
  readonly workOf: (run: string, signal: AbortSignal) => Promise<RunWork>;
  /** The way to the topics, under the lease of the slot. */
  readonly toolsFor: (session: SlotSession<HeldSplit, SplitWrite>) => SlotTools & { close(): void };
  readonly parallelism: number;
  readonly commitIntervalMillis: number;
  readonly maxConcurrentSplits: number;
  readonly runtime: Runtime;
}

/**
 * One invocation of a slot: looks whether there is a run at all; plans it or ends it where nobody did; takes the slot;
 * reads splits until its time is used up or nothing is left; gives everything back.
 */
export async function readSlot(reading: SlotReading, ending: SessionEnd): Promise<SlotReport> {
  const { slot, owner, store, giveBack, bytesOf, advance, toolsFor, parallelism, runtime } = reading;
  const open = await store.readOpenRuns(ending.stop);
  if (open.length === 0) return { outcome: 'idle' };
  if (open.every(({ value }) => value.state !== 'reading')) await tried(advance, ending.stop, runtime);

  const dependencies = { store, giveBack, runtime };
  const opened = await openSlot(slot, owner, dependencies, ending.end);
  if (opened.kind === 'held') return { outcome: 'held', by: opened.by };
  const { session } = opened;
  const tools = toolsFor(session);
  try {
    const claims = new Claims({ parallelism, bytesOf }, session, dependencies);
    const work = new SlotWork({ ...reading, session, claims, tools, ending });
    await work.run();
    return { outcome: 'worked', ...work.counts };
  } finally {
    tools.close();
  }
}

/** What a tick could not do the next one does, here or elsewhere: nothing waits for it. */
async function tried(advance: SlotReading['advance'], stop: AbortSignal, { logger }: Runtime): Promise<void> {
  try {
    await advance(stop);
  } catch (error) {
    if (stop.aborted) return;
    logger.log('WARNING', 'a slot could not plan or end a run; it is tried again', { cause: describeError(error) });
  }
}
