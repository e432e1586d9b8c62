import { MutateRowsRequest } from '../../infra/local/proto/google/bigtable/v2/bigtable.ts';
import type {
  Mutation as WireMutation,
  RowFilter as WireFilter,
} from '../../infra/local/proto/google/bigtable/v2/data.ts';
import { encodeMutateRows, entrySize, requestSize } from '../../shared/google/bigtable/encode.ts';
import type { MappedWrite } from '../../shared/mapping/modes/write.ts';
import type { RowFilter } from '../../shared/model/filter.ts';
import type { Mutation } from '../../shared/model/mutation.ts';
import { checkAndMutate, readModifyWrite, type RawClient } from './bigtable-raw-client.ts';

/**
 * Sends what a mapping made of a record in a mode of single-row requests, with the generated client. Resolves to whether
 * the predicate matched, or to the changed cells.
 */
export function sendMapped(client: RawClient, tableName: string, write: MappedWrite): Promise<boolean | string[]> {
  switch (write.kind) {
    case 'conditional': {
      const { rowKey, predicate, then, otherwise } = write.request;
      return checkAndMutate(client, {
        tableName,
        rowKey,
        ...(predicate && { predicateFilter: wireFilter(predicate) }),
        trueMutations: wireMutations(then),
        falseMutations: wireMutations(otherwise),
      });
    }
    case 'readModifyWrite': {
      const { rowKey, rules } = write.request;
      return readModifyWrite(client, {
        tableName,
        rowKey,
        rules: rules.map((rule) => ({
          familyName: rule.family,
          columnQualifier: rule.qualifier,
          rule:
            rule.kind === 'append'
              ? { $case: 'appendValue', value: rule.value }
              : { $case: 'incrementAmount', value: rule.amount },
        })),
      });
    }
    case 'entry':
      throw new TypeError('an entry is not a single-row request');
  }
}

/** By way of the connector's own encoder and the generated decoder. */
function wireMutations(mutations: readonly Mutation[]): WireMutation[] {
  const entry = { rowKey: Buffer.from('k'), mutations };
  const entries = [{ entry, bytes: entrySize(entry) }];
  const size = requestSize('t', '', entries);
  const { entries: decoded } = MutateRowsRequest.decode(encodeMutateRows(Buffer.alloc(size), size, 't', '', entries));
  return decoded[0]?.mutations ?? [];
}

function wireFilter(filter: RowFilter): WireFilter {
  return { filter: filterCase(filter) };
}

function filterCase(filter: RowFilter): WireFilter['filter'] {
  switch (filter.kind) {
    case 'family':
      return { $case: 'familyNameRegexFilter', value: quoted(Buffer.from(filter.family)).toString('latin1') };
    case 'qualifier':
      return { $case: 'columnQualifierRegexFilter', value: quoted(filter.qualifier) };
    case 'value':
      return { $case: 'valueRegexFilter', value: quoted(filter.value) };
    case 'timestampRange':
      return {
        $case: 'timestampRangeFilter',
        value: { startTimestampMicros: filter.startMicros, endTimestampMicros: filter.endMicros ?? 0n },
      };
    case 'cellsPerColumn':
      return { $case: 'cellsPerColumnLimitFilter', value: filter.count };
    case 'cellsPerRow':
      return { $case: 'cellsPerRowLimitFilter', value: filter.count };
    case 'chain':
      return { $case: 'chain', value: { filters: filter.filters.map(wireFilter) } };
    case 'interleave':
      return { $case: 'interleave', value: { filters: filter.filters.map(wireFilter) } };
  }
}

/** A pattern that matches these bytes and no others: every byte that is no letter or digit as RE2's `\xNN`. */
const quoted = (bytes: Buffer): Buffer =>
  Buffer.from(
    Array.from(bytes, (byte) => {
      const character = String.fromCharCode(byte);
      return /[0-9A-Za-z]/.test(character) ? character : `\\x${byte.toString(16).padStart(2, '0')}`;
    }).join(''),
  );
