import type { Cell, Column, Row } from './row.ts';

/**
 * Garbage collection rules. The service deletes at its leisure; here a condemned cell is gone from every read at once,
 * which is the state that the service reaches in the end. Pure: `nowMicros` is an argument.
 */
export type GcRule =
  | { readonly kind: 'maxVersions'; readonly versions: number }
  | { readonly kind: 'maxAge'; readonly micros: bigint }
  /** Condemns what any of its rules condemns. */
  | { readonly kind: 'union'; readonly rules: readonly GcRule[] }
  /** Condemns what all of its rules condemn. */
  | { readonly kind: 'intersection'; readonly rules: readonly GcRule[] };

/** The rule of a family, or undefined when the family keeps everything. */
export type RuleOf = (family: string) => GcRule | undefined;

/** Whether the rule condemns the cell at `position` (0 = newest) of its column. */
export function isCondemned(rule: GcRule, cell: Cell, position: number, nowMicros: bigint): boolean {
  switch (rule.kind) {
    case 'maxVersions':
      return position >= rule.versions;
    case 'maxAge':
      return cell.timestampMicros < nowMicros - rule.micros;
    case 'union':
      return rule.rules.some((each) => isCondemned(each, cell, position, nowMicros));
    case 'intersection':
      return rule.rules.length > 0 && rule.rules.every((each) => isCondemned(each, cell, position, nowMicros));
  }
}

/** The cells of the column that its rule leaves, newest first. The same array when it leaves all. */
export function liveCells(column: Column, rule: GcRule | undefined, nowMicros: bigint): readonly Cell[] {
  if (!rule) return column.cells;
  const isLive = (cell: Cell, position: number): boolean => !isCondemned(rule, cell, position, nowMicros);
  return column.cells.every(isLive) ? column.cells : column.cells.filter(isLive);
}

/** Whether a reader sees any cell of the row. */
export const isLiveRow = (row: Row, ruleOf: RuleOf, nowMicros: bigint): boolean =>
  row.columns.some((column) => liveCells(column, ruleOf(column.family), nowMicros).length > 0);

/**
 * Frees the memory of condemned cells of a column that was just written. It looks only when the number of versions is
 * a power of two: a column whose rule keeps many versions is then scanned once per doubling, not once per write.
 * At least one cell stays, so that a column never is without cells; reads leave it out all the same.
 */
export function sweepColumn(column: Column, rule: GcRule | undefined, nowMicros: bigint): void {
  const { cells } = column;
  if (!rule || cells.length < 2 || (cells.length & (cells.length - 1)) !== 0) return;
  const live = liveCells(column, rule, nowMicros);
  if (live.length === cells.length) return;
  column.cells = live.length > 0 ? [...live] : cells.slice(0, 1);
}
