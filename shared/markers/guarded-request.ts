import { RecordError } from '../base/errors.ts';
import { type ConditionalRequest, conditionalRequest } from '../model/conditional.ts';
import {
  cellExists,
  chain,
  interleave,
  MAX_FILTER_DEPTH,
  otherFamilies,
  type RowFilter,
} from '../model/filter/filter.ts';
import type { Mutation } from '../model/mutation.ts';
import type { RowRequest } from '../model/row-request.ts';
import { MARKER_VALUE } from './marker.ts';

/** What guards a request: a cell in its own row that is written with it, in one atomic step. */
export interface Marker {
  /** Raw and without a GC rule: a marker that is collected guards nothing. */
  readonly family: string;
  /** The qualifier: the same at every delivery of the request, and of no other. */
  readonly identity: string;
}

/**
 * The request with its marker: it is applied at most once, however often it is sent. Pure. Exact only where one
 * predicate can say "not yet decided": a conditional request whose `then` is empty. Its predicate becomes "what was asked
 * of the row without its markers, or the marker", and both branches leave the marker, so the first decision stands: a
 * replay matches, writes the marker again as it is, and changes nothing. The markers of other requests are kept from the
 * predicate, which would take them for data: the row answers as it would without protection.
 *
 * Throws a {@link RecordError} with the alternative for what cannot carry a marker in the same atomic step.
 */
export function guarded({ kind, request }: RowRequest, marker: Marker): ConditionalRequest {
  if (kind === 'readModifyWrite') {
    throw new RecordError(
      'replayProtection: must be a request that can carry a marker, got a read-modify-write request, which sets no cell; keep the counter in an aggregate family and send AddToCell',
    );
  }
  if (request.then.length > 0) {
    throw new RecordError(
      'replayProtection: must be a conditional request with mutations in "otherwise" alone, got some in "then": no single predicate says "it matches and is not yet applied"; state the condition the other way round',
    );
  }
  const problem = markerProblem(request.otherwise, marker.family);
  if (problem !== undefined) throw new RecordError(`replayProtection: ${problem}`);
  const cell: Mutation = {
    kind: 'setCell',
    family: marker.family,
    qualifier: Buffer.from(marker.identity),
    // One version, whoever writes it and when.
    timestampMicros: 0n,
    value: MARKER_VALUE,
  };
  const predicate = withMarker(request, marker.family, cellExists(marker.family, cell.qualifier));
  return conditionalRequest({
    rowKey: request.rowKey,
    predicate,
    then: [cell],
    otherwise: [...request.otherwise, cell],
  });
}

/** Without a predicate any cell matches that is no marker. */
function withMarker({ predicate }: ConditionalRequest, family: string, marker: RowFilter): RowFilter {
  if (predicate?.kind === 'none') return marker;
  const data = otherFamilies(family);
  if (!predicate) return interleave(data, marker);
  // A chain takes the step in, so that it stands no deeper than it did.
  const steps = predicate.kind === 'chain' ? predicate.filters : [predicate];
  try {
    return interleave(chain(data, ...steps), marker);
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    throw new RecordError(
      `replayProtection: ${MAX_FILTER_DEPTH - GUARD_DEPTH} levels of chains and interleaves are all that a predicate may have beside its marker; state it with fewer`,
      { cause: error },
    );
  }
}

/** Levels that the marker adds around a predicate. */
const GUARD_DEPTH = 2;

/** Why mutations would take a marker away or forge one; undefined where they leave markers alone. */
function markerProblem(mutations: readonly Mutation[], family: string): string | undefined {
  for (const [index, mutation] of mutations.entries()) {
    if (mutation.kind === 'deleteFromRow') {
      return `otherwise[${index}]: must not delete the row, which holds its markers; delete its families instead`;
    }
    if (mutation.family === family) return `otherwise[${index}]: must leave the marker family alone`;
  }
  return undefined;
}
