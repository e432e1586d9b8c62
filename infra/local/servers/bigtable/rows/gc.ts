import { partitionPoint } from '../../../base/ordered-index.ts';
import type { Cell, Row, Run } from './row.ts';

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

/** Whether the rule condemns the cell at `position` (0 = newest) of its column. It then condemns all older ones too. */
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

/**
 * The cells that the rules leave, in order: what a reader sees. They are a row's, or those of whole columns of one: a
 * rule looks at no other column. The list itself when they leave all, so it must be used before the row changes.
 */
export function liveCells(cells: readonly Cell[], ruleOf: RuleOf, nowMicros: bigint): readonly Cell[] {
  let rule: GcRule | undefined;
  let version = 0;
  const isLive = (cell: Cell, at: number): boolean => {
    const before = cells[at - 1];
    if (before?.family !== cell.family) rule = ruleOf(cell.family);
    version = before?.family === cell.family && before.qualifier === cell.qualifier ? version + 1 : 0;
    return !rule || !isCondemned(rule, cell, version, nowMicros);
  };
  const firstDead = cells.findIndex((cell, at) => !isLive(cell, at));
  if (firstDead < 0) return cells;
  return cells.filter(isLive);
}

/**
 * Frees the memory of condemned cells of a column that was just written. It looks only when the number of versions is
 * a power of two: a column whose rule keeps many versions is then scanned once per doubling, not once per write.
 */
export function sweepColumn(row: Row, { start, end }: Run, rule: GcRule, nowMicros: bigint): void {
  const versions = end - start;
  if (versions < 2 || (versions & (versions - 1)) !== 0) return;
  const live = partitionPoint(versions, (at) => !isCondemned(rule, row.cells[start + at]!, at, nowMicros));
  if (live < versions) row.cells.splice(start + live, versions - live);
}
