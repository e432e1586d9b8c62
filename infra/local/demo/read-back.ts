import type { Row, Table } from '@google-cloud/bigtable';
import { TableComparison, type TableDifference } from './comparison.ts';
import type { ExpectedRow } from './expectation.ts';

/** A row as the official client gives it with `decode: false`. */
type RowData = Readonly<Record<string, Readonly<Record<string, readonly CellData[]>>>>;

interface CellData {
  readonly value: Buffer;
  /** Microseconds. */
  readonly timestamp: string | number;
}

/** Reads the whole table with the official client and compares every version of every cell. */
export async function compareTable(table: Table, expected: ReadonlyMap<string, ExpectedRow>): Promise<TableDifference> {
  const comparison = new TableComparison(expected);
  for await (const row of table.createReadStream({ decode: false }) as AsyncIterable<Row>) {
    comparison.add(row.id, cellsOf(row.data as RowData));
  }
  return comparison.result();
}

/** How many of these rows are there. */
export async function countRows(table: Table, rowKeys: Iterable<string>): Promise<number> {
  const [rows] = await table.getRows({ keys: [...rowKeys] });
  return rows.length;
}

function cellsOf(data: RowData): ExpectedRow {
  const cells = new Map<string, string>();
  for (const [family, columns] of Object.entries(data)) {
    for (const [qualifier, versions] of Object.entries(columns)) {
      for (const { value, timestamp } of versions) {
        cells.set(`${family}:${qualifier}@${timestamp}`, value.toString('hex'));
      }
    }
  }
  return cells;
}
