/**
 * One row as the store keeps it. Row keys and qualifiers are latin1 strings (one character per byte): they order as
 * Bigtable orders bytes, compare faster than Buffers and cost half the memory. Pure; no clock, no I/O.
 */
export interface Row {
  readonly key: string;
  /** Sorted by family, then by qualifier. No column is without cells. */
  columns: Column[];
}

export interface Column {
  readonly family: string;
  readonly qualifier: string;
  /** Newest first; at most one per timestamp. */
  cells: Cell[];
}

/** A version. Immutable: a write replaces the cell, so a reader that holds one keeps what it saw. */
export interface Cell {
  readonly timestampMicros: bigint;
  readonly value: Buffer;
}

/** A row key or qualifier as the store spells it. */
export const latin1 = (bytes: Buffer): string => bytes.toString('latin1');

/** The bytes of a row key or qualifier of the store. */
export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

/** The first position at which `isBefore` is false; `isBefore` must be true for a prefix of the positions only. */
export function partitionPoint(length: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The column, or undefined when the row has no cell in it. */
export function findColumn(row: Row, family: string, qualifier: string): Column | undefined {
  const found = row.columns[columnPosition(row, family, qualifier)];
  return found?.family === family && found.qualifier === qualifier ? found : undefined;
}

/** The version with exactly this timestamp. */
export function findCell(row: Row, family: string, qualifier: string, timestampMicros: bigint): Cell | undefined {
  const cells = findColumn(row, family, qualifier)?.cells ?? [];
  const found = cells[versionPosition(cells, timestampMicros)];
  return found?.timestampMicros === timestampMicros ? found : undefined;
}

/** Puts a cell into the row, in place of the one with the same timestamp if there is one. Returns its column. */
export function putCell(row: Row, family: string, qualifier: string, cell: Cell): Column {
  const position = columnPosition(row, family, qualifier);
  const found = row.columns[position];
  if (found?.family !== family || found.qualifier !== qualifier) {
    const made: Column = { family, qualifier, cells: [cell] };
    row.columns.splice(position, 0, made);
    return made;
  }
  const { cells } = found;
  const at = versionPosition(cells, cell.timestampMicros);
  const replaced = cells[at]?.timestampMicros === cell.timestampMicros ? 1 : 0;
  cells.splice(at, replaced, cell);
  return found;
}

/** Deletes the column's versions in [start, end); an `endMicros` of 0 means no upper bound. */
export function deleteCells(row: Row, family: string, qualifier: string, startMicros: bigint, endMicros: bigint): void {
  const position = columnPosition(row, family, qualifier);
  const found = row.columns[position];
  if (found?.family !== family || found.qualifier !== qualifier) return;
  const { cells } = found;
  const first = endMicros === 0n ? 0 : partitionPoint(cells.length, (at) => cells[at]!.timestampMicros >= endMicros);
  const afterLast = partitionPoint(cells.length, (at) => cells[at]!.timestampMicros >= startMicros);
  if (afterLast > first) cells.splice(first, afterLast - first);
  if (cells.length === 0) row.columns.splice(position, 1);
}

/** Deletes every cell of one family. */
export function deleteFamily(row: Row, family: string): void {
  const first = partitionPoint(row.columns.length, (at) => row.columns[at]!.family < family);
  const afterLast = partitionPoint(row.columns.length, (at) => row.columns[at]!.family <= family);
  row.columns.splice(first, afterLast - first);
}

/** Where the version with this timestamp is or belongs: versions run from the newest to the oldest. */
const versionPosition = (cells: readonly Cell[], timestampMicros: bigint): number =>
  partitionPoint(cells.length, (at) => cells[at]!.timestampMicros > timestampMicros);

const columnPosition = ({ columns }: Row, family: string, qualifier: string): number =>
  partitionPoint(columns.length, (at) => {
    const column = columns[at]!;
    return column.family < family || (column.family === family && column.qualifier < qualifier);
  });
