import { MAX_MUTATIONS } from '../../model/mutation.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { encodeMarkerPredicate } from '../../markers/marker.ts';

/**
 * Several envelopes of one row as one conditional write. Pure. It asks whether the row has any of their markers; where
 * it has none, all their mutations are applied in order, each with its marker, in one atomic step.
 */

/**
 * Most envelopes in one write. Each adds 33 bytes to the predicate, and Bigtable takes a row filter of at most 20,480
 * bytes serialized (https://cloud.google.com/bigtable/quotas, 2026-08): this leaves room for the longest family name.
 * What so many alternatives cost the service is not published: its pages say that a row is read and then filtered
 * (https://cloud.google.com/bigtable/docs/filters, 2026-11), so a row of very many markers may take long. The bound is an
 * option, therefore, and falls while requests take long.
 */
export const MAX_COALESCED_ENVELOPES = 600;

/** Most bytes of mutations in one write, so that one that must be sent again does not take long. */
export const MAX_COALESCED_BYTES = 4 * 1024 * 1024;

/** Counts what fits in one write. */
export class CoalescedSize {
  readonly #maxEnvelopes: number;
  #envelopes = 0;
  #mutations = 0;
  #bytes = 0;
  #markerFamily: string | undefined;

  /** @param maxEnvelopes at most {@link MAX_COALESCED_ENVELOPES}. */
  constructor(maxEnvelopes: number) {
    this.#maxEnvelopes = maxEnvelopes;
  }

  /** Takes the envelope in if it fits; the first always does. */
  tryAdd({ mutations, request, mutationsStart, markerFamily }: Envelope): boolean {
    const bytes = request.length - mutationsStart;
    const fits =
      this.#envelopes === 0 ||
      (this.#envelopes < this.#maxEnvelopes &&
        this.#mutations + mutations <= MAX_MUTATIONS &&
        this.#bytes + bytes <= MAX_COALESCED_BYTES &&
        this.#markerFamily === markerFamily);
    if (!fits) return false;
    this.#envelopes += 1;
    this.#mutations += mutations;
    this.#bytes += bytes;
    this.#markerFamily = markerFamily;
    return true;
  }
}

/** What two envelopes of one row have in common: the bytes of table, profile and row key, as a key for maps. */
export const rowOf = ({ request, predicateStart }: Envelope): string => request.toString('latin1', 0, predicateStart);

/**
 * The request for envelopes of one row and one marker family, in the order given; at least one. A single envelope is
 * its own request, byte for byte; of several the mutations are copied as they stand.
 */
export function joinRequests(envelopes: readonly Envelope[]): Buffer {
  const [first] = envelopes;
  if (!first) throw new TypeError('no envelope to make a request of');
  if (envelopes.length === 1) return first.request;
  const identities = envelopes.map(({ identity }) => identity);
  return Buffer.concat([
    first.request.subarray(0, first.predicateStart),
    encodeMarkerPredicate(first.markerFamily, identities),
    ...envelopes.map(({ request, mutationsStart }) => request.subarray(mutationsStart)),
  ]);
}

/** Below this many, halving would ask more often than asking for each. */
const SMALLEST_HALVED = 5;

/**
 * The parts, in order, in which a write is tried again of which something is refused. Halves, because few of many are
 * refused as a rule; the last few one by one.
 */
export function partsOf<Item>(group: readonly Item[]): readonly (readonly Item[])[] {
  if (group.length < SMALLEST_HALVED) return group.map((item) => [item]);
  const middle = Math.ceil(group.length / 2);
  return [group.slice(0, middle), group.slice(middle)];
}
