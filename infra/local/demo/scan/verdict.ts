import { atLeast, atMost, exactly, type Check } from '../base/verdict.ts';
import type { SnapshotDifference } from './cells.ts';
import { refusedByModule, tooLarge } from './letters.ts';
import type { Repeats } from './repeats.ts';
import type { TablePlan } from './rows.ts';
import type { Totals } from './scan-state.ts';

/** What happened, from every side that can see some of it. */
export interface ScanObserved {
  /** Rows that the table has, by the server's own count. */
  readonly rowsStored: number;
  /** The table as the official client reads it, without the row that is too large. */
  readonly table: { readonly rows: number; readonly cells: number };
  /** What the consumer saw. */
  readonly consumed: {
    readonly rows: number;
    readonly distinct: number;
    readonly unexpected: number;
    readonly different: number;
  };
  readonly repeated: Repeats;
  /** What the killed slot had published beyond its last commit. */
  readonly uncommitted: number;
  readonly isTaken: boolean;
  /** Splits that the stopped slot still held when it was gone. */
  readonly leftByStop: number;
  readonly moves: number;
  readonly refusals: number;
  readonly letters: ReadonlySet<string>;
  readonly totals: Totals;
  /** By the messages that told the end; each the same, so the first. */
  readonly told: Totals | undefined;
  /** Whether a message of rows was published behind the one that told the end. */
  readonly isToldEarly: boolean;
  readonly copy: {
    readonly totals: Totals;
    readonly rows: number;
    readonly difference: SnapshotDifference;
    readonly letters: ReadonlySet<string>;
  };
}

/** Holds what happened against what must have. Pure. */
export function judgeScan({ rows, largeKey, refusedKey }: TablePlan, observed: ScanObserved): Check[] {
  const { table, consumed, repeated, totals, told, copy, letters } = observed;
  const isLetter = (all: ReadonlySet<string>, one: string): number => Number(all.has(one));
  const others = (all: ReadonlySet<string>, ...expected: readonly string[]): number =>
    [...all].filter((one) => !expected.includes(one)).length;
  return [
    exactly('table: rows', observed.rowsStored, rows),
    exactly('table: rows that the official client reads', table.rows, rows - 1),
    exactly('topic: rows, each once', consumed.distinct, table.rows - 1),
    exactly('topic: rows that the table has not', consumed.unexpected, 0),
    exactly('topic: rows with other cells than in the table', consumed.different, 0),
    exactly('letter of the row that is too large', isLetter(letters, tooLarge(largeKey)), 1),
    exactly('letter of the row that the module refuses', isLetter(letters, refusedByModule(refusedKey)), 1),
    exactly('other letters', others(letters, tooLarge(largeKey), refusedByModule(refusedKey)), 0),
    exactly('run: rows', totals.rows, table.rows),
    exactly('run: cells', totals.cells, table.cells),
    exactly('run: records handed on', totals.messages, consumed.distinct),
    exactly('run: rows with a letter', totals.quarantined, 2),
    exactly('run: rows, as its last message tells', told?.rows ?? 0, totals.rows),
    exactly('messages of rows behind the last one', Number(observed.isToldEarly), 0),
    exactly('repeats that the crash does not explain', repeated.others, 0),
    atMost('repeats that the crash explains', repeated.ofTheCrash, observed.uncommitted),
    atLeast('repeats that the crash explains', repeated.ofTheCrash, 1),
    exactly('the killed slot was taken over', Number(observed.isTaken), 1),
    exactly('splits that the stopped slot did not give back', observed.leftByStop, 0),
    atLeast('tablets moved', observed.moves, 1),
    atLeast('publishes refused', observed.refusals, 1),
    exactly('copy: rows', copy.rows, table.rows),
    exactly('copy: rows missing or unexpected', copy.difference.rows, 0),
    exactly('copy: rows with other cells', copy.difference.cells, 0),
    exactly('copy: rows by its run', copy.totals.rows, table.rows),
    exactly('copy: letter of the row that is too large', isLetter(copy.letters, tooLarge(largeKey)), 1),
    exactly('copy: other letters', others(copy.letters, tooLarge(largeKey)), 0),
  ];
}
