import type { RowFilter } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { columnRun, type Cell, type Row } from '../rows/row.ts';

/**
 * The columns that a filter names. This store seeks to them, so that a row of very many columns costs a request no more
 * than the few that it asks about. Whether the service does so is not published: its pages say that a row is read, then
 * filtered (https://cloud.google.com/bigtable/docs/filters, 2026-11). The server's option `scansRows` is for whoever
 * wants to know what that would cost. Pure.
 */
export interface NamedColumns {
  readonly family: string;
  /** As latin1, in any order; one may be there twice. */
  readonly qualifiers: readonly string[];
}

/** For filters by family and by qualifier: the texts that they are alternatives of, when they are nothing else. */
export type Literals = ReadonlyMap<RowFilter['filter'], readonly string[]>;

/**
 * The columns outside of which the filter sees no cell: those of a chain that begins with one family and then
 * alternatives of qualifiers, each exactly. Undefined for every other filter. A chain in a chain counts as its parts.
 */
export function namedColumns(filter: RowFilter, literals: Literals): NamedColumns | undefined {
  const [first, second] = links(filter);
  if (first?.$case !== 'familyNameRegexFilter' || second?.$case !== 'columnQualifierRegexFilter') return undefined;
  const families = literals.get(first);
  const qualifiers = literals.get(second);
  return families?.length === 1 && qualifiers ? { family: families[0]!, qualifiers } : undefined;
}

/** The cells of these columns in the service's order, perhaps with others: a small row is not worth the seeking. */
export function cellsAround(row: Row, { family, qualifiers }: NamedColumns): readonly Cell[] {
  if (row.cells.length <= qualifiers.length) return row.cells;
  const runs = qualifiers
    .map((qualifier) => columnRun(row, family, qualifier))
    .filter(({ start, end }) => start < end)
    .sort((left, right) => left.start - right.start);
  return runs.flatMap(({ start, end }, at) => (runs[at - 1]?.start === start ? [] : row.cells.slice(start, end)));
}

/** The filters that a cell passes one after the other. */
function* links({ filter }: RowFilter): Generator<RowFilter['filter']> {
  if (filter?.$case !== 'chain') yield filter;
  else for (const each of filter.value.filters) yield* links(each);
}
