import type { RowFilter } from '../model/filter.ts';
import type { RowFilter as WireFilter } from '../proto/google/bigtable/v2/data.ts';
import { patternOf } from './exact-pattern.ts';

/** A filter as `google.bigtable.v2.RowFilter`. Exact matches become patterns that match those bytes alone. Pure. */
export const toWireFilter = (filter: RowFilter): WireFilter => ({ filter: wireCase(filter) });

function wireCase(filter: RowFilter): WireFilter['filter'] {
  switch (filter.kind) {
    case 'none':
      return { $case: 'blockAllFilter', value: true };
    case 'family':
      return { $case: 'familyNameRegexFilter', value: patternOf(Buffer.from(filter.family)).toString() };
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
