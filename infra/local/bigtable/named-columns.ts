import type { RowFilter } from '../proto/google/bigtable/v2/data.ts';
import { pattern } from './cell-tests.ts';
import { columnRun, type Cell, type Row } from './row.ts';

/** The columns outside of which a filter lets nothing through. */
export interface NamedColumns {
  readonly family: string;
  /** As latin1, in order. */
  readonly qualifiers: readonly string[];
}

/**
 * The columns that a filter names: a chain that begins with one family and then with qualifiers that can be listed. The
 * service seeks to them, and so must we: a row that holds ten thousands of markers is asked for some of them again and
 * again. Undefined for any other filter. Throws INVALID_ARGUMENT for a pattern that is none. Pure.
 */
export function namedColumns({ filter }: RowFilter): NamedColumns | undefined {
  if (filter?.$case !== 'chain') return undefined;
  const [first, second] = filter.value.filters;
  if (first?.filter?.$case === 'chain') return namedColumns(first);
  if (first?.filter?.$case !== 'familyNameRegexFilter') return undefined;
  if (second?.filter?.$case !== 'columnQualifierRegexFilter') return undefined;
  const families = pattern('family_name_regex_filter', Buffer.from(first.filter.value)).literals;
  const qualifiers = pattern('column_qualifier_regex_filter', second.filter.value).literals;
  const [family] = families?.size === 1 ? families : [];
  return family === undefined || !qualifiers ? undefined : { family, qualifiers: [...qualifiers].toSorted() };
}

/** The cells of these columns, in the order in which the row has them. */
export function cellsIn(row: Row, { family, qualifiers }: NamedColumns): Cell[] {
  return qualifiers.flatMap((qualifier) => {
    const { start, end } = columnRun(row, family, qualifier);
    return row.cells.slice(start, end);
  });
}
