import { noCell, qualifierEquals, type RowFilter, valueEquals } from '../model/filter/filter.ts';
import type { BytesRange, ScanFilter } from '../model/filter/scan-filter.ts';
import { type ColumnRange, RowFilter as WireFilter, type ValueRange } from '../proto/google/bigtable/v2/data.ts';
import { exactBytesOf, familyPattern, otherFamiliesPattern, patternOf } from '../model/filter/exact-pattern.ts';

/** A filter as `google.bigtable.v2.RowFilter`. Exact matches become patterns that match those bytes alone. Pure. */
export const toWireFilter = (filter: ScanFilter): WireFilter => ({ filter: wireCase(filter) });

/** The bytes of a filter as requests carry them. */
export const encodeFilter = (filter: ScanFilter): Buffer => bytesOf(toWireFilter(filter));

/**
 * Filters as one, each looking at what the one before let through; undefined where there is none.
 *
 * @param steps a buffer is one that was encoded before.
 */
export function encodeInTurn(steps: readonly (ScanFilter | Buffer | undefined)[]): Buffer | undefined {
  const filters = steps
    .filter((step) => step !== undefined)
    .map((step) => (Buffer.isBuffer(step) ? WireFilter.decode(step) : toWireFilter(step)));
  const [only] = filters;
  if (!only) return undefined;
  return bytesOf(filters.length === 1 ? only : { filter: { $case: 'chain', value: { filters } } });
}

const bytesOf = (filter: WireFilter): Buffer => Buffer.from(WireFilter.encode(filter).finish());

function wireCase(filter: ScanFilter): WireFilter['filter'] {
  switch (filter.kind) {
    case 'all':
      return { $case: 'passAllFilter', value: true };
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
    case 'rowKeyRegex':
      return { $case: 'rowKeyRegexFilter', value: filter.pattern };
    case 'familyRegex':
      return { $case: 'familyNameRegexFilter', value: filter.pattern };
    case 'qualifierRegex':
      return { $case: 'columnQualifierRegexFilter', value: filter.pattern };
    case 'valueRegex':
      return { $case: 'valueRegexFilter', value: filter.pattern };
    case 'columnRange':
      return { $case: 'columnRangeFilter', value: wireColumnRange(filter) };
    case 'valueRange':
      return { $case: 'valueRangeFilter', value: wireValueRange(filter) };
    case 'valueBitmask':
      return { $case: 'valueBitmaskFilter', value: { mask: filter.mask } };
    case 'cellsPerRowOffset':
      return { $case: 'cellsPerRowOffsetFilter', value: filter.count };
    case 'condition': {
      const { predicate, then, otherwise } = filter;
      const value = {
        predicateFilter: toWireFilter(predicate),
        trueFilter: then && toWireFilter(then),
        falseFilter: otherwise && toWireFilter(otherwise),
      };
      return { $case: 'condition', value };
    }
    case 'stripValue':
      return { $case: 'stripValueTransformer', value: true };
    case 'label':
      return { $case: 'applyLabelTransformer', value: filter.label };
    case 'sink':
      return { $case: 'sink', value: true };
    default:
      return filter satisfies never;
  }
}

const wireColumnRange = ({ family, start, end }: BytesRange & { readonly family: string }): ColumnRange => ({
  familyName: family,
  startQualifier: start && { $case: start.isOpen ? 'startQualifierOpen' : 'startQualifierClosed', value: start.bytes },
  endQualifier: end && { $case: end.isOpen ? 'endQualifierOpen' : 'endQualifierClosed', value: end.bytes },
});

const wireValueRange = ({ start, end }: BytesRange): ValueRange => ({
  startValue: start && { $case: start.isOpen ? 'startValueOpen' : 'startValueClosed', value: start.bytes },
  endValue: end && { $case: end.isOpen ? 'endValueOpen' : 'endValueClosed', value: end.bytes },
});

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
