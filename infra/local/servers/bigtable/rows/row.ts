import { partitionPoint, OrderedIndex } from '../../../base/ordered-index.ts';

/**
 * One row as the store keeps it: its cells in one sorted list, so that a column, a family and a range of versions each
 * are a run of neighbours. Row keys and qualifiers are latin1 strings (one character per byte): they order as Bigtable
 * orders bytes, compare faster than Buffers and cost half the memory. Pure; no clock, no I/O.
 */
export interface Row {
  readonly key: string;
  /** In the service's order: family, qualifier, newest first; at most one per timestamp. */
  cells: Cell[];
}

/** A version of a column. Immutable: a write replaces the cell, so a reader that holds one keeps what it saw. */
export interface Cell {
  readonly family: string;
  /** As latin1. */
  readonly qualifier: string;
  readonly timestampMicros: bigint;
  readonly value: Buffer;
}

/** Neighbouring cells of a row: from position `start` up to, not including, `end`. */
export interface Run {
  readonly start: number;
  readonly end: number;
}

/** A row key or qualifier as the store spells it. */
export const latin1 = (bytes: Buffer): string => bytes.toString('latin1');

/** The bytes of a row key or qualifier of the store. */
export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Order of cells in a row and in an answer: negative, zero or positive. */
export function compareCells(left: Cell, right: Cell): number {
  return compareColumns(left, right) || compareVersions(left.timestampMicros, right.timestampMicros);
}

/** The cells of a column. */
export function columnRun({ cells }: Row, family: string, qualifier: string): Run {
  const column = { family, qualifier };
  const start = partitionPoint(cells.length, (at) => compareColumns(cells[at]!, column) < 0);
  let end = start;
  // Most columns have few versions: walking to their end is cheaper than searching for it.
  while (end < cells.length && compareColumns(cells[end]!, column) === 0) end += 1;
  return { start, end };
}

/** The version with exactly this timestamp. */
export function findCell(row: Row, family: string, qualifier: string, timestampMicros: bigint): Cell | undefined {
  const wanted = { family, qualifier, timestampMicros, value: NOTHING };
  const found = row.cells[position(row, wanted)];
  return found && compareCells(found, wanted) === 0 ? found : undefined;
}

/** Puts a cell into the row, in place of the one with the same column and timestamp if there is one. */
export function putCell(row: Row, cell: Cell): void {
  const { cells } = row;
  if (cells.length === 0) {
    row.cells = [cell];
    return;
  }
  const at = position(row, cell);
  const found = cells[at];
  if (!found) cells.push(cell);
  else if (compareCells(found, cell) === 0) cells[at] = cell;
  else cells.splice(at, 0, cell);
}

/** Deletes the column's versions in [start, end); an `endMicros` of 0 means no upper bound. */
export function deleteCells(row: Row, family: string, qualifier: string, startMicros: bigint, endMicros: bigint): void {
  const { cells } = row;
  const { start, end } = columnRun(row, family, qualifier);
  const timestamp = (at: number): bigint => cells[start + at]!.timestampMicros;
  const first = endMicros === 0n ? 0 : partitionPoint(end - start, (at) => timestamp(at) >= endMicros);
  const afterLast = partitionPoint(end - start, (at) => timestamp(at) >= startMicros);
  if (afterLast > first) cells.splice(start + first, afterLast - first);
}

/** Deletes every cell of one family. */
export function deleteFamily({ cells }: Row, family: string): void {
  const start = partitionPoint(cells.length, (at) => cells[at]!.family < family);
  const end = partitionPoint(cells.length, (at) => cells[at]!.family <= family);
  cells.splice(start, end - start);
}

const NOTHING = Buffer.alloc(0);

/** Where the cell is or belongs. */
const position = ({ cells }: Row, cell: Cell): number =>
  partitionPoint(cells.length, (at) => compareCells(cells[at]!, cell) < 0);

function compareColumns(left: Pick<Cell, 'family' | 'qualifier'>, right: Pick<Cell, 'family' | 'qualifier'>): number {
  if (left.family !== right.family) return left.family < right.family ? -1 : 1;
  if (left.qualifier !== right.qualifier) return left.qualifier < right.qualifier ? -1 : 1;
  return 0;
}

/** Newer versions come first. */
function compareVersions(left: bigint, right: bigint): number {
  if (left === right) return 0;
  return left > right ? -1 : 1;
}

/** A cell on its way to a reader, through filters that may strip or label it. Immutable. */
export interface ReadCell extends Cell {
  readonly labels?: readonly string[];
}

/** The rows of a table, by key and in key order. A row that stays empty must be taken out again. */
export class RowIndex extends OrderedIndex<Row> {
  constructor() {
    super((key) => ({ key, cells: [] }));
  }
}
