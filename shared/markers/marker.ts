import { familyPattern } from '../model/filter/exact-pattern.ts';
import { CheckAndMutateRowRequest } from '../proto/google/bigtable/v2/bigtable.ts';
import type { Mutation, RowFilter } from '../proto/google/bigtable/v2/data.ts';

/**
 * The marker of an effect: one cell in the marker family of the effect's own row, written with the effect and never
 * changed. Its qualifier is the identity, its value is "1". Whether it is there decides whether the effect is applied.
 * Pure.
 */

/** Of every marker, whoever writes it. */
export const MARKER_VALUE = Buffer.from('1');

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

/**
 * How long a marker lives, and until when its envelope may be sent. Pure; times as their names say. Why this is safe is
 * written down in ADR 0008.
 *
 * Without a horizon markers live forever: the timestamp is 0 and the marker family has no garbage collection.
 * With a horizon H the marker is stamped with the message's publish time p, which is the same at every delivery, and
 * the family may collect what is older than H. An envelope is sent only before p + H − margin; so, whenever a copy of
 * it is sent, the marker that an earlier copy left is still there.
 */

/** Room for clocks that differ and for the request's own time, between the last copy sent and the first marker collected. */
export const HORIZON_MARGIN_MILLIS = 60 * 60 * 1000;

/** @param horizonMillis undefined for markers that live forever. */
export const markerTimestampMicros = (publishTimeMicros: bigint, horizonMillis: number | undefined): bigint =>
  // Whole milliseconds: the granularity of every table.
  horizonMillis === undefined ? 0n : publishTimeMicros - (publishTimeMicros % 1000n);

/**
 * Whether an envelope may not be sent any more. What was frozen with a horizon, or without one, is sent only as such:
 * under a horizon the timestamp 0 is beyond it from the start, and without one nobody can tell whether a marker that
 * carries a time was collected.
 */
export function isBeyondHorizon(
  markerTimestampMicros: bigint,
  horizonMillis: number | undefined,
  now: number,
): boolean {
  if (horizonMillis === undefined) return markerTimestampMicros !== 0n;
  return now >= Number(markerTimestampMicros / 1000n) + horizonMillis - HORIZON_MARGIN_MILLIS;
}
