import { familyPattern } from '../model/exact-pattern.ts';
import { CheckAndMutateRowRequest } from '../proto/google/bigtable/v2/bigtable.ts';
import type { Mutation, RowFilter } from '../proto/google/bigtable/v2/data.ts';

/**
 * The marker of an effect: one cell in the marker family of the effect's own row, written with the effect and never
 * changed. Its qualifier is the identity, its value is "1". Whether it is there decides whether the effect is applied.
 * Pure.
 */

const MARKER_VALUE = Buffer.from('1');

/** The mutation that leaves the marker. */
export const markerCell = (family: string, identity: string, timestampMicros: bigint): Mutation => ({
  mutation: {
    $case: 'setCell',
    value: {
      familyName: family,
      columnQualifier: Buffer.from(identity, 'latin1'),
      timestampMicros,
      value: MARKER_VALUE,
    },
  },
});

/** Passes the markers of any of these identities; hexadecimal digits need no quoting in a pattern. */
export const markerFilter = (family: string, identities: readonly string[]): RowFilter => ({
  filter: {
    $case: 'chain',
    value: {
      filters: [
        { filter: { $case: 'familyNameRegexFilter', value: familyPattern(family) } },
        { filter: { $case: 'columnQualifierRegexFilter', value: Buffer.from(identities.join('|'), 'latin1') } },
      ],
    },
  },
});

/** The field `predicate_filter` of a request, as it stands on the wire. */
export const encodeMarkerPredicate = (family: string, identities: readonly string[]): Buffer =>
  Buffer.from(
    CheckAndMutateRowRequest.encode({
      tableName: '',
      authorizedViewName: '',
      appProfileId: '',
      rowKey: Buffer.alloc(0),
      predicateFilter: markerFilter(family, identities),
      trueMutations: [],
      falseMutations: [],
    }).finish(),
  );
