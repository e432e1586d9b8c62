import * as z from 'zod';
import {
  cellExists,
  cellsPerColumn,
  cellsPerRow,
  depthRule,
  latestCellValueEquals,
  noCell,
  qualifierEquals,
  type RowFilter,
  SOME_RULE,
  valueEquals,
} from '../model/filter/filter.ts';
import { rangeRule } from '../model/mutation-rules.ts';
import { bytes, count, family, qualifier, rangeEnd, rangeStart } from './leaves.ts';
import { body, listOf, oneOf } from './shapes.ts';
import { bytesJson } from './bytes-json.ts';

/**
 * Filters in JSON, in the words of the model, and the two combinations that people mean most: `cellExists` and
 * `latestCellValueEquals`.
 */

/** More in one list would exceed what a serialized filter may hold. */
const MAX_FILTERS = 10_000;

/** The filters that requests and scans have in common, but for those that hold others. */
export const PLAIN_FILTERS = {
  none: body({}).transform(noCell),
  family: family.transform((name): RowFilter => ({ kind: 'family', family: name })),
  qualifier: qualifier.transform(qualifierEquals),
  value: bytes.transform(valueEquals),
  timestampRange: body({ startMicros: rangeStart, endMicros: z.exactOptional(rangeEnd) })
    .check(({ value, issues }) => {
      const message = rangeRule(value.startMicros, value.endMicros);
      if (message !== undefined) issues.push({ code: 'custom', message, path: ['endMicros'], input: value });
    })
    .transform((range): RowFilter => ({ kind: 'timestampRange', ...range })),
  cellsPerColumn: count.transform(cellsPerColumn),
  cellsPerRow: count.transform(cellsPerRow),
  cellExists: body({ family, qualifier }).transform((cell) => cellExists(cell.family, cell.qualifier)),
  latestCellValueEquals: body({ family, qualifier, value: bytes }).transform((cell) =>
    latestCellValueEquals(cell.family, cell.qualifier, cell.value),
  ),
} as const;

/** A chain's or an interleave's filters. */
export const someFilters = <Filter>(inner: z.ZodType<Filter>) =>
  listOf(inner, MAX_FILTERS).min(1, { error: `${SOME_RULE}, got none` });

const inner: z.ZodType<RowFilter> = z.lazy(() => filter);

const combined = (kind: 'chain' | 'interleave') =>
  someFilters(inner).transform((filters): RowFilter => ({ kind, filters: Object.freeze(filters) }));

const { cellExists: exists, latestCellValueEquals: latestEquals, ...plain } = PLAIN_FILTERS;

const filter = oneOf<RowFilter>(
  {
    ...plain,
    chain: combined('chain'),
    interleave: combined('interleave'),
    cellExists: exists,
    latestCellValueEquals: latestEquals,
  },
  'filter',
);

/** A whole predicate. */
export const predicate = filter.check(({ value, issues }) => {
  // Where a part is refused there is no whole filter to look at.
  const message = issues.length === 0 ? depthRule(value) : undefined;
  if (message !== undefined) issues.push({ code: 'custom', message, input: value });
});

/** A filter as {@link predicate} reads it. */
export function filterJson(filter: RowFilter): object {
  switch (filter.kind) {
    case 'none':
      return { none: {} };
    case 'family':
      return { family: filter.family };
    case 'otherFamilies':
      throw new TypeError('a filter for every family but one is of a guarded request, which no document is made of');
    case 'qualifier':
      return { qualifier: bytesJson(filter.qualifier) };
    case 'value':
      return { value: bytesJson(filter.value) };
    case 'timestampRange': {
      const { startMicros, endMicros } = filter;
      return {
        timestampRange: {
          startMicros: String(startMicros),
          ...(endMicros !== undefined && { endMicros: String(endMicros) }),
        },
      };
    }
    case 'cellsPerColumn':
    case 'cellsPerRow':
      return { [filter.kind]: filter.count };
    case 'chain':
    case 'interleave':
      return { [filter.kind]: filter.filters.map(filterJson) };
    default:
      return filter satisfies never;
  }
}
