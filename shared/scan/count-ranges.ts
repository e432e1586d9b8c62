import { type Bound, compareEnds, isEmptyRange, openBound, type RowRange } from '../model/row-range.ts';
import { splitRanges } from './plan/split-ranges.ts';
import type { SplitCounts } from './runs/split.ts';

/**
 * Counts for each range and prefix, as they were written: of the form `count`. A row is read once, whatever ranges it is in,
 * and counts for each of them. Splits are cut where such a range begins or ends, so that a split lies in a range or outside of
 * it. Pure.
 */

export interface RangeCounts extends Pick<SplitCounts, 'rows' | 'cells' | 'bytes'> {
  readonly range: RowRange;
}

/** The united ranges, cut wherever one of those that were written begins or ends. */
export const cutAtBounds = (united: readonly RowRange[], written: readonly RowRange[]): RowRange[] =>
  splitRanges(
    united,
    written.flatMap(({ start, end }) =>
      [firstKeyFrom(start), firstKeyBehind(end)].flatMap((key) => (key ? [{ key, offsetBytes: 0n }] : [])),
    ),
  ).map(({ range }) => range);

const next = (key: Buffer): Buffer => Buffer.concat([key, Buffer.of(0)]);

/** The first key of a range that begins so. */
const firstKeyFrom = (start: Bound): Buffer | undefined =>
  start.kind === 'unbounded' ? undefined : start.kind === 'closed' ? start.key : next(start.key);

/** The first key behind a range that ends so. */
const firstKeyBehind = (end: Bound): Buffer | undefined =>
  end.kind === 'unbounded' ? undefined : end.kind === 'open' ? end.key : next(end.key);

/**
 * What was counted of each range, in the order in which they were written. Of a split its end alone is looked at: its range
 * shrinks from the left, and in which ranges it lies does not change with that.
 */
export function countsByRange(
  written: readonly RowRange[],
  splits: readonly { readonly range: RowRange; readonly counts: SplitCounts }[],
): RangeCounts[] {
  const sorted = splits
    .map(({ range, counts }) => ({ end: openEnd(range.end), counts }))
    .toSorted((left, right) => compareEnds(left.end, right.end));
  const ends = sorted.map(({ end }) => end);
  const sums = [NOTHING];
  for (const { counts } of sorted) sums.push(plus(sums.at(-1) ?? NOTHING, counts));
  return written.map((range) => {
    const { start } = range;
    const end = openEnd(range.end);
    const from = firstWhere(ends, (each) => !isEmptyRange({ start, end: each }));
    const until = firstWhere(ends, (each) => compareEnds(each, end) > 0);
    const before = sums[from] ?? NOTHING;
    const all = sums[Math.max(from, until)] ?? NOTHING;
    return { range, rows: all.rows - before.rows, cells: all.cells - before.cells, bytes: all.bytes - before.bytes };
  });
}

/** The same end as an open one, so that one place has one spelling. */
function openEnd(end: Bound): Bound {
  const key = firstKeyBehind(end);
  return key ? openBound(key) : end;
}

type Sum = Pick<SplitCounts, 'rows' | 'cells' | 'bytes'>;
const NOTHING: Sum = { rows: 0, cells: 0, bytes: 0 };
const plus = (sum: Sum, { rows, cells, bytes }: Sum): Sum => ({
  rows: sum.rows + rows,
  cells: sum.cells + cells,
  bytes: sum.bytes + bytes,
});

/** The first index from which on the condition holds; the length where it never does. */
function firstWhere(ends: readonly Bound[], holds: (end: Bound) => boolean): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const end = ends[middle];
    if (end && holds(end)) high = middle;
    else low = middle + 1;
  }
  return low;
}
