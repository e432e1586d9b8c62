import { noCell, qualifierEquals, type RowFilter, valueEquals } from '../model/filter/filter.ts';
import type { RowFilter as WireFilter } from '../proto/google/bigtable/v2/data.ts';
import { exactBytesOf, familyPattern, otherFamiliesPattern, patternOf } from '../model/filter/exact-pattern.ts';

/** A filter as `google.bigtable.v2.RowFilter`. Exact matches become patterns that match those bytes alone. Pure. */
export const toWireFilter = (filter: RowFilter): WireFilter => ({ filter: wireCase(filter) });

function wireCase(filter: RowFilter): WireFilter['filter'] {
  switch (filter.kind) {
    case 'none':
      return { $case: 'blockAllFilter', value: true };
    case 'family':
      return { $case: 'familyNameRegexFilter', value: familyPattern(filter.family) };
    case 'otherFamilies':
      return { $case: 'familyNameRegexFilter', value: otherFamiliesPattern(filter.family) };
    case 'qualifier':
      return { $case: 'columnQualifierRegexFilter', value: patternOf(filter.qualifier) };
    case 'value':
      return { $case: 'valueRegexFilter', value: patternOf(filter.value) };
    case 'timestampRange':
      return {
        $case: 'timestampRangeFilter',
        // Zero is how the wire says "without end".
        value: { startTimestampMicros: filter.startMicros, endTimestampMicros: filter.endMicros ?? 0n },
      };
    case 'cellsPerColumn':
      return { $case: 'cellsPerColumnLimitFilter', value: filter.count };
    case 'cellsPerRow':
      return { $case: 'cellsPerRowLimitFilter', value: filter.count };
    case 'chain':
      return { $case: 'chain', value: { filters: filter.filters.map(toWireFilter) } };
    case 'interleave':
      return { $case: 'interleave', value: { filters: filter.filters.map(toWireFilter) } };
    default:
      return filter satisfies never;
  }
}

/** Takes what cannot be read, at its path. */
export type Report = (path: string, message: string) => void;

/**
 * The filter that a wire filter is. What the model has no word for is reported by its path, never passed on: a filter
 * that was read as a wider one would select the wrong branch. Its values are not checked here. Undefined once something
 * was reported.
 */
export function fromWireFilter({ filter }: WireFilter, path: string, report: Report): RowFilter | undefined {
  if (filter === undefined) return refused(path, 'must be a filter, got none', report);
  switch (filter.$case) {
    case 'blockAllFilter':
      return filter.value ? noCell() : refused(`${path}.blockAllFilter`, 'must be true, got false', report);
    case 'familyNameRegexFilter': {
      const name = exact(Buffer.from(filter.value), `${path}.familyNameRegexFilter`, report);
      return name && { kind: 'family', family: name.toString() };
    }
    case 'columnQualifierRegexFilter': {
      const qualifier = exact(filter.value, `${path}.columnQualifierRegexFilter`, report);
      return qualifier && qualifierEquals(qualifier);
    }
    case 'valueRegexFilter': {
      const value = exact(filter.value, `${path}.valueRegexFilter`, report);
      return value && valueEquals(value);
    }
    case 'timestampRangeFilter': {
      const { startTimestampMicros: startMicros, endTimestampMicros: endMicros } = filter.value;
      return { kind: 'timestampRange', startMicros, ...(endMicros !== 0n && { endMicros }) };
    }
    case 'cellsPerColumnLimitFilter':
      return { kind: 'cellsPerColumn', count: filter.value };
    case 'cellsPerRowLimitFilter':
      return { kind: 'cellsPerRow', count: filter.value };
    case 'chain':
    case 'interleave':
      return combined(filter.$case, filter.value.filters, path, report);
    default:
      return refused(`${path}.${filter.$case}`, 'is no filter that a row request takes', report);
  }
}

function refused(path: string, message: string, report: Report): RowFilter | undefined {
  report(path, message);
  return undefined;
}

function exact(pattern: Buffer, path: string, report: Report): Buffer | undefined {
  const bytes = exactBytesOf(pattern);
  if (!bytes) report(path, 'must match one text exactly, every other character quoted by a backslash');
  return bytes;
}

function combined(
  kind: 'chain' | 'interleave',
  filters: readonly WireFilter[],
  path: string,
  report: Report,
): RowFilter | undefined {
  const read = filters.map((filter, index) => fromWireFilter(filter, `${path}.${kind}.filters[${index}]`, report));
  const known = read.filter((filter) => filter !== undefined);
  return known.length === read.length ? { kind, filters: Object.freeze(known) } : undefined;
}
