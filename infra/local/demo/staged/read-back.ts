import type { Table } from '@google-cloud/bigtable';
import {
  addressed,
  bigEndianHex,
  type ExpectedRow,
  readRows,
  TableComparison,
  type TableDifference,
} from '../base/read-back.ts';
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
  for await (const { key, cells } of readRows(table)) {
    const others = cells.filter(({ family }) => family !== MARKER_FAMILY);
    const own = cells.length - others.length;
    markers += own;
    comparison.add(key, new Map([...others.map(addressed), [MARKERS, bigEndianHex(own)]]));
  }
  return { ...comparison.result(), markers };
}
