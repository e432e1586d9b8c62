import type { ResolvedBound, ResolvedSelection } from '../config/resolved.ts';
import {
  cellsPerColumn,
  chain,
  familyEquals,
  interleave,
  otherFamilies,
  type RowFilter,
  timestampRange,
} from '../model/filter/filter.ts';
import { type Bound, coalesce, type RowRange, WHOLE_TABLE } from '../model/row-range.ts';

/** What a selection asks of the service. Pure. */

/** The ranges to read, united and in order: a row in several of those that were written is read once. */
export const rangesOf = (selection: Pick<ResolvedSelection, 'ranges'>): RowRange[] =>
  coalesce(writtenRanges(selection));

/** Ranges and prefixes one by one; the whole table where there are none. */
export const writtenRanges = ({ ranges }: Pick<ResolvedSelection, 'ranges'>): RowRange[] =>
  ranges.length === 0 ? [WHOLE_TABLE] : ranges.map(({ start, end }) => ({ start: boundOf(start), end: boundOf(end) }));

const boundOf = (bound: ResolvedBound): Bound =>
  bound.kind === 'unbounded' ? bound : { kind: bound.kind, key: Buffer.from(bound.key, 'base64') };

/** Timestamps in microseconds: from the first, itself included, to before the second. */
export interface TimestampWindow {
  readonly sinceMicros?: bigint;
  readonly untilMicros?: bigint;
}

/**
 * The filter of families, timestamps and versions, in the order in which the service narrows by them: the latest version
 * is the latest of those in the window. Undefined: every cell.
 */
export function shapeFilter(
  { families, excludeFamilies, latestOnly }: Pick<ResolvedSelection, 'families' | 'excludeFamilies' | 'latestOnly'>,
  { sinceMicros = 0n, untilMicros }: TimestampWindow,
): RowFilter | undefined {
  const isWindow = sinceMicros > 0n || untilMicros !== undefined;
  const steps: RowFilter[] = [
    ...oneOf(families.map(familyEquals)),
    ...excludeFamilies.map(otherFamilies),
    ...(isWindow ? [timestampRange(sinceMicros, untilMicros)] : []),
    ...(latestOnly ? [cellsPerColumn(1)] : []),
  ];
  return inTurn(steps);
}

/** Cells that pass each of the filters, looking at what the one before let through. Undefined where there is none. */
export function inTurn(steps: readonly (RowFilter | undefined)[]): RowFilter | undefined {
  const there = steps.filter((step) => step !== undefined);
  return there.length > 1 ? chain(...there) : there[0];
}

const oneOf = (filters: readonly RowFilter[]): RowFilter[] =>
  filters.length > 1 ? [interleave(...filters)] : [...filters];
