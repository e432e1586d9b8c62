import type { RowRange } from '../../model/row-range.ts';

/**
 * A split: one range of a run, read by one slot at a time. Plain values; times are milliseconds since the epoch.
 *
 * Its progress is its range, which shrinks from the left: there is no cursor beside it. While a slot has it, range and
 * counts in the slot's document hold, and those of its own document are as they were when it was taken.
 */

/** Everything that was read or handed on of a split, since the run started. Moves with the range, in the same write. */
export interface SplitCounts {
  readonly rows: number;
  readonly cells: number;
  /** Of the rows, by the byte estimate. */
  readonly bytes: number;
  /** Confirmed by the topic. */
  readonly messages: number;
  /** Rows that the form leaves out. */
  readonly skipped: number;
  /** Rows that went to the dead-letter topic. */
  readonly quarantined: number;
}

export const NO_COUNTS: SplitCounts = { rows: 0, cells: 0, bytes: 0, messages: 0, skipped: 0, quarantined: 0 };

export const COUNT_NAMES = Object.keys(NO_COUNTS) as readonly (keyof SplitCounts)[];

export const sumOfCounts = (counts: readonly SplitCounts[]): SplitCounts =>
  Object.fromEntries(
    COUNT_NAMES.map((name) => [name, counts.reduce((sum, each) => sum + each[name], 0)]),
  ) as unknown as SplitCounts;

/** What a slot knows of a split that it has. */
export interface HeldSplit {
  readonly run: string;
  /** What is left of it; perhaps empty, and then it is done without a request. */
  readonly range: RowRange;
  readonly counts: SplitCounts;
  /** Times in a row that it ended in failure without having moved. */
  readonly failures: number;
  /** Why it failed last: what was refused and what to do. For people; names a row key only where that is its purpose. */
  readonly problem?: string;
}

export type SplitState =
  /** Anybody may take it from this time on. */
  | { readonly kind: 'waiting'; readonly since: number }
  | { readonly kind: 'held'; readonly slot: number; readonly epoch: number }
  | { readonly kind: 'done' }
  /** It failed too often. It ends the run in failure, once all others are done. */
  | { readonly kind: 'failed' };

/** A split's own document: written when it changes hands or ends, and at no other time. */
export interface Split extends HeldSplit {
  /** See {@link splitId}. */
  readonly id: string;
  readonly state: SplitState;
}

/** What a slot knows of a split that it takes. */
export const heldOf = ({ run, range, counts, failures, problem }: Split): HeldSplit => ({
  ...{ run, range, counts, failures },
  ...(problem !== undefined && { problem }),
});

/** A split whose time has come, and the document that says so. */
export interface WaitingSplit {
  readonly split: Split & { readonly state: Extract<SplitState, { kind: 'waiting' }> };
  readonly version: string;
}

/** What is written to a split's own document. */
export interface SplitWrite {
  readonly split: Split;
  /** Where it was waiting, which it must still be; absent where the slot's own document fences the write. */
  readonly version?: string;
}

/** The name of a split, and of the unit of a slot: its plan, which no other run or planner has, and its place in it. */
export const splitId = (plan: string, place: number): string => `${plan}-${place}`;

export const planOf = (id: string): string => id.slice(0, id.lastIndexOf('-'));

/** Its place in the order of keys, from 0. */
export const placeOf = (id: string): number => Number(id.slice(id.lastIndexOf('-') + 1));
