import type { ResolvedBound, ResolvedSelection } from '../config/resolved.ts';
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
