import { compareBytes } from '../../model/bytes.ts';
import {
  type Bound,
  closedBound,
  compareEnds,
  compareStarts,
  openBound,
  type RowRange,
  sameEnd,
  sameStart,
} from '../../model/row-range.ts';

/**
 * Arithmetic of partitions, which hold their start and not their end. Pure, and total: a range without bounds is a range
 * like any other.
 */

/** Where a range ends beside where another begins: before it, at it (0), or in it. */
function compareEndToStart(end: Bound, start: Bound): number {
  if (end.kind === 'unbounded' || start.kind === 'unbounded') return 1;
  return compareBytes(end.key, start.key);
}

/** Whether a range goes on where another ends, with neither a key between them nor one in both. */
export const meets = ({ end }: RowRange, { start }: RowRange): boolean =>
  end.kind === 'open' && start.kind === 'closed' && end.key.equals(start.key);

/** Whether a key lies in both. */
export const overlaps = (left: RowRange, right: RowRange): boolean =>
  compareEndToStart(left.end, right.start) > 0 && compareEndToStart(right.end, left.start) > 0;

/** Whether every key of a range lies in another. */
export const isWithin = (inner: RowRange, outer: RowRange): boolean =>
  compareStarts(outer.start, inner.start) <= 0 && compareEnds(inner.end, outer.end) <= 0;

/** The keys that lie in both of two ranges that overlap. */
export const common = (left: RowRange, right: RowRange): RowRange => ({
  start: compareStarts(left.start, right.start) > 0 ? left.start : right.start,
  end: compareEnds(left.end, right.end) < 0 ? left.end : right.end,
});

/** A new list, in the order of where they start, then of where they end. */
export const inOrder = <Value>(values: readonly Value[], rangeOf: (value: Value) => RowRange): Value[] =>
  values.toSorted((left, right) => compareRanges(rangeOf(left), rangeOf(right)));

export const compareRanges = (left: RowRange, right: RowRange): number =>
  compareStarts(left.start, right.start) || compareEnds(left.end, right.end);

/** The parts of a range that lie in none of the others, in order. The others may overlap and stand in any order. */
export function gapsIn(range: RowRange, covered: readonly RowRange[]): RowRange[] {
  const gaps: RowRange[] = [];
  let { start } = range;
  for (const cover of inOrder(covered, (each) => each)) {
    if (compareEndToStart(cover.end, start) <= 0) continue;
    if (compareEndToStart(range.end, cover.start) <= 0) break;
    if (compareStarts(start, cover.start) < 0) gaps.push({ start, end: endAt(cover.start) });
    if (cover.end.kind === 'unbounded') return gaps;
    start = closedBound(cover.end.key);
    if (compareEndToStart(range.end, start) <= 0) return gaps;
  }
  return [...gaps, { start, end: range.end }];
}

const endAt = (start: Bound): Bound => (start.kind === 'unbounded' ? start : openBound(start.key));

/** Whether ranges make up another exactly: no hole, no overlap, nothing beyond it. Of no ranges: they do not. */
export function tiles(target: RowRange, ranges: readonly RowRange[]): boolean {
  const ordered = inOrder(ranges, (range) => range);
  const [first] = ordered;
  const last = ordered.at(-1);
  if (!first || !last || !sameStart(first, target) || !sameEnd(last, target)) return false;
  return ordered.every((range, place) => {
    const next = ordered[place + 1];
    return !next || meets(range, next);
  });
}

/** Ranges that meet are one; those that overlap are too. In order. */
export function joined(ranges: readonly RowRange[]): RowRange[] {
  const result: RowRange[] = [];
  for (const range of inOrder(ranges, (each) => each)) {
    const last = result.at(-1);
    if (!last || compareEndToStart(last.end, range.start) < 0) result.push(range);
    else if (compareEnds(last.end, range.end) < 0) result[result.length - 1] = { start: last.start, end: range.end };
  }
  return result;
}
