import type { Row, Table } from '@google-cloud/bigtable';
import { storedCells, storedKey } from '../../run/official-rows.ts';
import { TableComparison, type TableDifference } from '../comparison.ts';
import { bigEndianHex, type ExpectedRow } from '../forms/form.ts';
import { MARKERS } from './truth.ts';

const MARKER_FAMILY = 'applied';

export interface MarkedTable extends TableDifference {
  readonly markers: number;
}

/** Reads the whole table with the official client and compares every cell; of the markers, how many a row has. */
export async function compareMarkedTable(
  table: Table,
  expected: ReadonlyMap<string, ExpectedRow>,
): Promise<MarkedTable> {
  const comparison = new TableComparison(expected);
  let markers = 0;
  for await (const row of table.createReadStream({ decode: false }) as AsyncIterable<Row>) {
    const cells = storedCells(row);
    const others = cells.filter(({ family }) => family !== MARKER_FAMILY);
    markers += cells.length - others.length;
    const actual = others.map(
      ({ family, qualifier, timestampMicros, value }) =>
        [`${family}:${qualifier}@${timestampMicros}`, value.toString('hex')] as const,
    );
    comparison.add(
      storedKey(row).toString(),
      new Map([...actual, [MARKERS, bigEndianHex(cells.length - others.length)]]),
    );
  }
  return { ...comparison.result(), markers };
}
