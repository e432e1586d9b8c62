import type { ExpectedRow } from './forms/form.ts';

export interface TableDifference {
  readonly rowsExpected: number;
  readonly rowsRead: number;
  readonly cellsCompared: number;
  readonly missingRows: number;
  readonly unexpectedRows: number;
  /** Cells that are missing, more than there should be, or of another value. */
  readonly differentCells: number;
}

/** Compares a table with what it should hold, row by row as they are read, in any order. Pure but for its own counts. */
export class TableComparison {
  readonly #expected: ReadonlyMap<string, ExpectedRow>;
  readonly #seen = new Set<string>();
  #rowsRead = 0;
  #cellsCompared = 0;
  #unexpectedRows = 0;
  #differentCells = 0;

  constructor(expected: ReadonlyMap<string, ExpectedRow>) {
    this.#expected = expected;
  }

  /** Takes one row that was read. */
  add(rowKey: string, actual: ExpectedRow): void {
    this.#rowsRead += 1;
    const expected = this.#expected.get(rowKey);
    if (!expected || this.#seen.has(rowKey)) {
      this.#unexpectedRows += 1;
      return;
    }
    this.#seen.add(rowKey);
    for (const address of new Set([...expected.keys(), ...actual.keys()])) {
      this.#cellsCompared += 1;
      if (expected.get(address) !== actual.get(address)) this.#differentCells += 1;
    }
  }

  result(): TableDifference {
    return {
      rowsExpected: this.#expected.size,
      rowsRead: this.#rowsRead,
      cellsCompared: this.#cellsCompared,
      missingRows: this.#expected.size - this.#seen.size,
      unexpectedRows: this.#unexpectedRows,
      differentCells: this.#differentCells,
    };
  }
}
