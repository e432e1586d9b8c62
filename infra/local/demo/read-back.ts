import type { Row, Table } from '@google-cloud/bigtable';
import { storedCells, storedKey } from '../run/official-rows.ts';
import { TableComparison, type TableDifference } from './comparison.ts';
import type { ExpectedRow } from './forms/form.ts';

/** Reads the whole table with the official client and compares every version of every cell. */
export async function compareTable(table: Table, expected: ReadonlyMap<string, ExpectedRow>): Promise<TableDifference> {
  const comparison = new TableComparison(expected);
  for await (const row of table.createReadStream({ decode: false }) as AsyncIterable<Row>) {
    const cells = storedCells(row).map(
      ({ family, qualifier, timestampMicros, value }) =>
        [`${family}:${qualifier}@${timestampMicros}`, value.toString('hex')] as const,
    );
    comparison.add(storedKey(row).toString(), new Map(cells));
  }
  return comparison.result();
}

/** How many of these rows are there. */
export async function countRows(table: Table, rowKeys: Iterable<string>): Promise<number> {
  const keys = [...rowKeys];
  // Without a key the client reads the whole table.
  if (keys.length === 0) return 0;
  const [rows] = await table.getRows({ keys });
  return rows.length;
}
