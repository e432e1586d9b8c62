import type { HeldSplit } from './scan-state.ts';

/** What a crash may repeat, and what came twice. Pure. */

/** Split → key → how often the row came. */
export type Received = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Whether a row is among what is left of a split: it was not committed when its slot died. */
export function isLeft(key: string, { start, end }: Pick<HeldSplit, 'start' | 'end'>): boolean {
  if (start && !(start.isOpen ? key > start.key : key >= start.key)) return false;
  return !end || (end.isOpen ? key < end.key : key <= end.key);
}

/** Rows that came of what is left of splits by their last commit. */
export function uncommitted(received: Received, held: readonly HeldSplit[]): number {
  let rows = 0;
  for (const one of held) {
    for (const key of received.get(one.split)?.keys() ?? []) if (isLeft(key, one)) rows += 1;
  }
  return rows;
}

export interface Repeats {
  /** Of what the killed slot held and had not committed. */
  readonly ofTheCrash: number;
  readonly others: number;
}

/** Every row beyond its first time. @param held by the killed slot. */
export function repeatsIn(received: Received, held: readonly HeldSplit[]): Repeats {
  let [ofTheCrash, others] = [0, 0];
  for (const [split, rows] of received) {
    const left = held.find((one) => one.split === split);
    for (const [key, times] of rows) {
      if (left && isLeft(key, left)) ofTheCrash += times - 1;
      else others += times - 1;
    }
  }
  return { ofTheCrash, others };
}
