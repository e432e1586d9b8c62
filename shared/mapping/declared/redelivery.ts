/**
 * What becomes of a row where a record is applied again, or late, once a newer one was applied. The reference page is made
 * of this list, and a test applies every line of it. Pure data.
 */

/** The row, against the same two records applied once, the older first. */
export type Fate =
  /** It is the same. */
  | 'same'
  /** The newest version of every cell is the same, and an older one lies beneath. */
  | 'older-beneath'
  /** It is as if only the older record were applied: the record that is applied last wins. */
  | 'last-applied-wins'
  /** It is as if only the newer record were applied: the record that is applied first wins. */
  | 'first-applied-wins'
  /** The record counts once more. */
  | 'counts-again'
  /** It holds what the service makes of it then. */
  | 'decided-anew';

export interface Redelivered {
  /** Modes, options or operations, as the page says them. */
  readonly what: string;
  /** Of the older record, delivered again after the newer one. */
  readonly again: Fate;
  /** Of the older record, applied for the first time after the newer one. */
  readonly late: Fate;
}

export const REDELIVERED = [
  { what: '`upsert`', again: 'same', late: 'same' },
  { what: '`keep-latest`', again: 'older-beneath', late: 'older-beneath' },
  { what: 'a null with `onNull: delete`', again: 'same', late: 'same' },
  { what: '`deleteColumns`', again: 'same', late: 'same' },
  { what: 'a cell that a newer record deletes', again: 'last-applied-wins', late: 'last-applied-wins' },
  { what: '`keep-latest` with `columnDeletes: all-versions`', again: 'last-applied-wins', late: 'last-applied-wins' },
  { what: '`deleteColumns` with `columnDeletes: all-versions`', again: 'last-applied-wins', late: 'last-applied-wins' },
  { what: '`delete-row`', again: 'last-applied-wins', late: 'last-applied-wins' },
  { what: '`deleteFamilies`', again: 'last-applied-wins', late: 'last-applied-wins' },
  { what: 'dynamic columns with `update: replace`', again: 'last-applied-wins', late: 'last-applied-wins' },
  { what: '`aggregate` with `int64-sum`', again: 'counts-again', late: 'same' },
  { what: '`aggregate` with `int64-min`, `int64-max` or `int64-hll`', again: 'same', late: 'same' },
  { what: '`insert-if-absent`', again: 'same', late: 'first-applied-wins' },
  { what: '`replace-if-newest`', again: 'same', late: 'same' },
  { what: '`append`', again: 'counts-again', late: 'decided-anew' },
  { what: '`increment`', again: 'counts-again', late: 'same' },
  { what: '`conditional`', again: 'decided-anew', late: 'decided-anew' },
] as const satisfies readonly Redelivered[];

/** What the page says of each. */
export const FATES: Readonly<Record<Fate, string>> = {
  same: 'nothing changes',
  'older-beneath':
    'the newest version of every cell stays, and an older one may lie beneath it: keep one version by garbage collection, or read the latest',
  'last-applied-wins': 'the older record wins: what the newer one did is undone',
  'first-applied-wins': 'the newer record stays, because it came first',
  'counts-again': 'it counts once more',
  'decided-anew': 'the row as it stands then decides',
};
