import { columnRun, putNewCells, type Cell, type Row } from './row.ts';

/** Cells from which on a row is long: below, putting a cell in its place costs no more than gathering it here. */
const LONG_ROW_CELLS = 1024;

/**
 * The cells that one list of mutations writes to columns that a long row does not have yet. They are gathered and put
 * into the row in one pass, because making room for each would move half of the row for each. Changes `row`; no I/O.
 */
export class NewColumns {
  readonly #row: Row;
  readonly #cells = new Map<string, Cell>();

  constructor(row: Row) {
    this.#row = row;
  }

  /** For a long row; undefined for any other, whose cells are better put one by one. */
  static of(row: Row): NewColumns | undefined {
    return row.cells.length < LONG_ROW_CELLS ? undefined : new NewColumns(row);
  }

  /** Whether it took the cell. One that it does not take is to be put into the row after what it took before. */
  take(cell: Cell): boolean {
    const { start, end } = columnRun(this.#row, cell.family, cell.qualifier);
    // The name of a family holds no colon.
    const column = `${cell.family}:${cell.qualifier}`;
    if (start < end || this.#cells.has(column)) return false;
    this.#cells.set(column, cell);
    return true;
  }

  /** Puts what it took into the row. Needed before anything else reads or changes the row. */
  flush(): void {
    if (this.#cells.size === 0) return;
    putNewCells(this.#row, [...this.#cells.values()]);
    this.#cells.clear();
  }
}
