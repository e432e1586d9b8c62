import type { Mutation } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { applyMutations, isAddition, serverTime, type ApplyContext } from './apply.ts';
import { isCondemned, type RuleOf } from './gc.ts';
import { bytesOf, type Cell, type Row } from './row.ts';

/** A change of one row as its cluster made it, which the others are told in the same words. */
export interface FedChange {
  /** As latin1. */
  readonly rowKey: string;
  readonly mutations: readonly Mutation[];
  readonly sourceCluster: string;
  /** Nanoseconds since the epoch. */
  readonly commitTime: bigint;
  readonly tieBreaker: number;
}

/** Who is told of each change of a copy's rows, in the order in which they are made. A table without a change stream has none. */
export interface ChangeFeed {
  /** A change of this cluster. */
  committed(rowKey: string, mutations: readonly Mutation[]): FedChange;
  /** A change of another cluster that has arrived. */
  arrived(change: FedChange): void;
  /** Garbage collection has taken these cells. */
  collected(rowKey: string, mutations: readonly Mutation[]): void;
}

/**
 * Applies the mutations and returns what a change stream tells of them: cells with the time they got, a deleted row as its
 * families that had cells, no addition that an idempotency token had applied before.
 */
export function applyAndTell(row: Row, mutations: readonly Mutation[], context: ApplyContext): Mutation[] {
  const told: Mutation[] = [];
  for (const each of mutations) {
    const { mutation } = each;
    if (mutation?.$case === 'deleteFromRow') told.push(...familyDeletes(row.cells));
    else if (mutation?.$case === 'setCell' && mutation.value.timestampMicros === -1n) {
      const value = { ...mutation.value, timestampMicros: serverTime(context) };
      told.push({ mutation: { $case: 'setCell', value } });
    } else if (!(context.isReplay && isAddition(each))) told.push(each);
    applyMutations(row, [each], context);
  }
  return told;
}

/** A deletion of each family that has cells, in order. */
export function familyDeletes(cells: readonly Cell[]): Mutation[] {
  const families = new Set(cells.map(({ family }) => family));
  return [...families].map((familyName) => ({ mutation: { $case: 'deleteFromFamily', value: { familyName } } }));
}

/**
 * Takes the condemned cells out of the row, and returns what a change stream tells of it: for each column one deletion, of the
 * times from the oldest cell to the youngest that was taken.
 */
export function collectRow(row: Row, ruleOf: RuleOf, nowMicros: bigint): Mutation[] {
  const told: Mutation[] = [];
  const kept: Cell[] = [];
  let position = 0;
  let youngest: Cell | undefined;
  for (const [at, cell] of row.cells.entries()) {
    const before = row.cells[at - 1];
    const isSameColumn = before?.family === cell.family && before.qualifier === cell.qualifier;
    position = isSameColumn ? position + 1 : 0;
    if (!isSameColumn) youngest = undefined;
    const rule = ruleOf(cell.family);
    if (!rule || !isCondemned(rule, cell, position, nowMicros)) {
      kept.push(cell);
      continue;
    }
    youngest ??= cell;
    const next = row.cells[at + 1];
    if (next?.family === cell.family && next.qualifier === cell.qualifier) continue;
    told.push(columnDelete(cell, youngest));
  }
  if (told.length > 0) row.cells = kept;
  return told;
}

const columnDelete = (oldest: Cell, youngest: Cell): Mutation => ({
  mutation: {
    $case: 'deleteFromColumn',
    value: {
      familyName: oldest.family,
      columnQualifier: bytesOf(oldest.qualifier),
      timeRange: {
        startTimestampMicros: oldest.timestampMicros,
        endTimestampMicros: youngest.timestampMicros + 1000n,
      },
    },
  },
});
