import { liveCells, type RuleOf } from './gc.ts';
import type { Row } from './row.ts';

/** A cell on its way to a reader, through filters that may strip or label it. Immutable. */
export interface ReadCell {
  readonly family: string;
  /** As latin1. */
  readonly qualifier: string;
  readonly timestampMicros: bigint;
  readonly value: Buffer;
  readonly labels: readonly string[];
}

const NO_LABELS: readonly string[] = [];

/** The cells that a reader sees in the row, in the service's order: family, qualifier, newest first. */
export function readCells(row: Row, ruleOf: RuleOf, nowMicros: bigint): ReadCell[] {
  const cells: ReadCell[] = [];
  for (const column of row.columns) {
    const { family, qualifier } = column;
    for (const { timestampMicros, value } of liveCells(column, ruleOf(family), nowMicros)) {
      cells.push({ family, qualifier, timestampMicros, value, labels: NO_LABELS });
    }
  }
  return cells;
}

/** The same order for cells that came together from several filters. A stable sort keeps copies beside each other. */
export function compareCells(left: ReadCell, right: ReadCell): number {
  if (left.family !== right.family) return left.family < right.family ? -1 : 1;
  if (left.qualifier !== right.qualifier) return left.qualifier < right.qualifier ? -1 : 1;
  if (left.timestampMicros === right.timestampMicros) return 0;
  return left.timestampMicros > right.timestampMicros ? -1 : 1;
}
