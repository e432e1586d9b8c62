import type { Table } from '@google-cloud/bigtable';
import type { StoredCell } from '../../run/official-rows.ts';
import { readRows } from '../base/read-back.ts';

/** A row as one text, so that rows are compared by comparing texts: every cell with its timestamp and its bytes. Pure. */

/** The parts of a cell that make it what it is. */
export type ComparedCell = Pick<StoredCell, 'qualifier' | 'timestampMicros' | 'value'>;

/** In an order of its own: whoever read the row, and in which order, its text is the same. */
export const rowText = (cells: readonly ComparedCell[]): string =>
  cells
    .map(({ qualifier, timestampMicros, value }) => `${qualifier}@${timestampMicros}=${value.toString('base64')}`)
    .toSorted()
    .join(' ');

/** What a table holds: row key → text. */
export type Snapshot = ReadonlyMap<string, string>;

/** Every row as the official client reads it, but one. */
export async function readSnapshot(table: Table, leftOutKey: string): Promise<Snapshot> {
  const rows = new Map<string, string>();
  const around = [
    { start: '', end: { value: leftOutKey, inclusive: false } },
    { start: { value: leftOutKey, inclusive: false }, end: '' },
  ];
  for await (const { key, cells } of readRows(table, around)) rows.set(key, rowText(cells));
  return rows;
}

/** A text has no space but between two cells. */
export function cellsIn(snapshot: Snapshot): number {
  let cells = 0;
  for (const text of snapshot.values()) cells += text.split(' ').length;
  return cells;
}

export interface SnapshotDifference {
  /** Keys that only one of them has. */
  readonly rows: number;
  /** Rows that both have, with other cells. */
  readonly cells: number;
}

export function compareSnapshots(left: Snapshot, right: Snapshot): SnapshotDifference {
  let [rows, cells] = [0, 0];
  for (const [key, text] of left) {
    const other = right.get(key);
    if (other === undefined) rows += 1;
    else if (other !== text) cells += 1;
  }
  for (const key of right.keys()) if (!left.has(key)) rows += 1;
  return { rows, cells };
}
