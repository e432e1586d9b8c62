import type { Led, LedStore } from '../../coordinator/ports.ts';
import type { RowRange } from '../../model/row-range.ts';
import type { CommitResult, Version, Versioned } from '../../model/store.ts';
import type { SlotCommit, SlotRead, SlotStore } from '../../slots/ports.ts';
import type { Plan, Run, RunOptions } from './run.ts';
import type { HeldSplit, Split, SplitCounts, SplitWrite, WaitingSplit } from './split.ts';

/**
 * What a scan asks of its durable store: views of one pipeline's documents, one for each who asks. Implemented over
 * Firestore in `shared/google/firestore`.
 *
 * Every method tells what happened or rejects with a `StoreError`, after which a commit may or may not have happened;
 * every wait ends with `signal`. A commit may also happen again, by itself and minutes later: each depends on a version
 * that its own first time changes. A document of a newer format is refused with a `StoreError`, not misread.
 */

/** What everybody sees of runs. */
export interface RunReader {
  /** Runs for which something is left to do, the oldest first; one query, and a read each. */
  readOpenRuns(signal: AbortSignal): Promise<readonly Versioned<Run>[]>;
  /** Rejects where there is no such run. */
  readOptions(run: string, signal: AbortSignal): Promise<RunOptions>;
  /** How many splits of the run's plan are done or have failed; counted by the store, which is cheaper than reading them. */
  countEnded(run: string, plan: Plan, signal: AbortSignal): Promise<number>;
  /** How many of those have failed. */
  countFailed(run: string, plan: Plan, signal: AbortSignal): Promise<number>;
}

/** The view of a slot. */
export interface ScanStore extends SlotStore<HeldSplit, SplitWrite>, RunReader {
  /** Splits of the run's plan that may be taken at `now`, in their turn: the time from which that is so, then their place. */
  readWaiting(
    run: string,
    plan: Plan,
    now: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly WaitingSplit[]>;
}

/** The document of a scanned pipeline, but for the lease. */
export interface ScanProgress {
  /** Grows with every commit: no two are alike, and of two starts at once one conflicts. */
  readonly commits: number;
  /** The last run that is done. */
  readonly lastDone?: { readonly run: string; readonly startedAt: number };
}

/** A run as it was read, and what it becomes. */
export interface RunWrite {
  readonly version: Version;
  readonly run: Run;
}

/** What a coordinator changes beside the pipeline's document, all in one commit. */
export interface ScanChanges {
  readonly runs: readonly RunWrite[];
  /** Splits of a plan in progress, which must not be there yet. */
  readonly planned: readonly Split[];
  /** Splits that nobody needs any more, by run: their documents expire at this time. Those that are gone do not matter. */
  readonly expiring: readonly { readonly run: string; readonly ids: readonly string[]; readonly expireAt: number }[];
  /** Slots that ran out and are taken from their owners. */
  readonly slots: readonly SlotCommit<HeldSplit, SplitWrite>[];
}

/** The coordinator's view. */
export interface ScanCoordinatorStore extends LedStore<ScanProgress, ScanChanges>, RunReader {
  readSlots(signal: AbortSignal): Promise<ReadonlyMap<number, SlotRead<HeldSplit>>>;
  /** Of all splits of a run by their own documents: exact once no slot has any. */
  sumCounts(run: string, signal: AbortSignal): Promise<SplitCounts>;
}

/** The view of whoever starts, cancels or looks at runs. */
export interface RunsStore extends RunReader {
  readPipeline(signal: AbortSignal): Promise<Versioned<Led<ScanProgress>> | undefined>;
  readRun(run: string, signal: AbortSignal): Promise<Versioned<Run> | undefined>;
  /** A new run, which must not be there yet, fenced by the pipeline's document as it was read (undefined: there is none). */
  start(
    pipeline: { readonly version: Version | undefined; readonly value: Led<ScanProgress> },
    run: Run,
    options: RunOptions,
    signal: AbortSignal,
  ): Promise<CommitResult>;
  /** Writes a run as it was read, and nothing else. */
  write(write: RunWrite, signal: AbortSignal): Promise<CommitResult>;
  /** The latest started first. */
  listRuns(limit: number, signal: AbortSignal): Promise<readonly Run[]>;
  /** Splits of the run's plan that wait, those whose time has not come included. */
  countWaiting(run: string, plan: Plan, signal: AbortSignal): Promise<number>;
  sumCounts(run: string, signal: AbortSignal): Promise<SplitCounts>;
  readSlots(signal: AbortSignal): Promise<ReadonlyMap<number, SlotRead<HeldSplit>>>;
  /** Those that are there. */
  readSplits(run: string, ids: readonly string[], signal: AbortSignal): Promise<readonly Split[]>;
  /** Splits of the run whose last attempt failed, the most often failed first. */
  readFailing(run: string, limit: number, signal: AbortSignal): Promise<readonly Split[]>;
}

/**
 * The ranges of a run's splits, in the order of their keys and at least one. Asks the table where it would be cut, with
 * retries of its own.
 */
export type PlanRanges = (run: Run, options: RunOptions, signal: AbortSignal) => Promise<readonly RowRange[]>;

/** Tells the topic of a run that it is done; resolves when that is confirmed. */
export type AnnounceEnd = (run: Run, options: RunOptions, signal: AbortSignal) => Promise<void>;
