import type { GetRowsOptions, Row, Table } from '@google-cloud/bigtable';
import { type StoredCell, storedCells, storedKey } from '../../run/official-rows.ts';

/** `family:qualifier@timestampMicros` → value in hexadecimal: one version of one cell. */
export type ExpectedRow = ReadonlyMap<string, string>;

export interface TableDifference {
  readonly rowsExpected: number;
  readonly rowsRead: number;
  readonly cellsCompared: number;
  readonly missingRows: number;
  readonly unexpectedRows: number;
  /** Cells that are missing, more than there should be, or of another value. */
  readonly differentCells: number;
}

/** Reads the whole table with the official client and compares every version of every cell. */
export async function compareTable(table: Table, expected: ReadonlyMap<string, ExpectedRow>): Promise<TableDifference> {
  const comparison = new TableComparison(expected);
  for await (const { key, cells } of readRows(table)) comparison.add(key, new Map(cells.map(addressed)));
  return comparison.result();
}

/** Every row of a table, or of ranges of it, as the official client reads it. */
export async function* readRows(
  table: Table,
  ranges: NonNullable<GetRowsOptions['ranges']> = [],
): AsyncGenerator<{ readonly key: string; readonly cells: readonly StoredCell[] }> {
  const options = { decode: false, ...(ranges.length > 0 && { ranges }) };
  for await (const row of table.createReadStream(options) as AsyncIterable<Row>) {
    yield { key: storedKey(row).toString(), cells: storedCells(row) };
  }
}

/** A cell as an {@link ExpectedRow} holds it. */
export const addressed = ({
  family,
  qualifier,
  timestampMicros,
  value,
}: StoredCell): readonly [address: string, hex: string] => [
  `${family}:${qualifier}@${timestampMicros}`,
  value.toString('hex'),
];

/** Two's complement of 64 bits, most significant byte first. */
export const bigEndianHex = (value: number): string => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, '0');

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
