import type { SplitCounts } from './split.ts';

/**
 * A run: one reading of a table, or of ranges of it. Plain values; times are milliseconds since the epoch.
 *
 * ```
 * planning ─ splits are written under a plan that nobody reads yet; the last commit of them makes it the run's ─ reading
 * reading  ─ as many splits are done as the plan has ─ done
 *          ─ all others are done, and some failed too often ─ failed
 * planning, reading ─ somebody cancels it ─ cancelled
 * planning ─ the table cannot be sampled ─ failed
 * ```
 */
export interface Run {
  /** Given by whoever starts it: the same id twice is one run. */
  readonly id: string;
  readonly state: 'planning' | 'reading' | 'done' | 'failed' | 'cancelled';
  readonly startedAt: number;
  /** Whose splits count, once the run is planned. Never changes after that. */
  readonly plan?: Plan;
  /** Whose splits are being written, while the run is planned. */
  readonly planning?: PlanInProgress;
  /** Plans whose splits nobody needs any more and which have no expiry yet: of planners that died, and of a run that ended. */
  readonly dead: readonly DeadPlan[];
  readonly readingSince?: number;
  readonly endedAt?: number;
  /** Of a run that is done; of one that ended otherwise, as far as its splits say. */
  readonly totals?: SplitCounts;
  /** Why it failed, and what to do. Or what keeps it from being planned now. */
  readonly problem?: string;
  /** The end of a run that is done was told to its topic, once at least. */
  readonly isTold: boolean;
}

export interface Plan {
  /** Random: no two planners have the same. */
  readonly id: string;
  /** How many splits it has; at least 1. */
  readonly splits: number;
}

export interface PlanInProgress {
  readonly id: string;
  /** Splits 0 to `written` - 1 are there. */
  readonly written: number;
}

export interface DeadPlan {
  readonly id: string;
  readonly splits: number;
  /** Splits 0 to `expiring` - 1 have an expiry. */
  readonly expiring: number;
}

/** Everything that a run goes by, frozen when it started: the text of a JSON document, which its reader alone understands. */
export type RunOptions = string;

/** Whether slots and coordinators have something to do for it still. Others are found by their id alone, or in lists. */
export const isOpen = ({ state, isTold, dead }: Run): boolean =>
  isUnderWay({ state }) || (state === 'done' && !isTold) || dead.length > 0;

/** Neither ended nor cancelled. */
export const isUnderWay = ({ state }: Pick<Run, 'state'>): boolean => state === 'planning' || state === 'reading';
