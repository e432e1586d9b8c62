import type { CollectionReference, DocumentReference, Query } from '@google-cloud/firestore';
import type { FirestoreClient } from './client.ts';

/**
 * Where the documents of one change stream are, and by which of their fields they are found:
 *
 * ```
 * pipelines/{p}                 kind; everything else
 * pipelines/{p}/topology/0      number
 * pipelines/{p}/partitions/{id} open: the generation, while it is to be read; turn, while it waits; rest, while it rests; end,
 *                               once it ended; detail {everything else}; expireAt, once nobody needs it
 * pipelines/{p}/merges/{id}     generation; detail {everything else}
 * pipelines/{p}/missing/{id}    generation; detail {everything else}
 * pipelines/{p}/slots/{k}       state {everything}
 * ```
 *
 * Each query is of one field, for which the index that Firestore makes by itself is enough. A deployment switches the
 * single-field indexes of `detail`, `state`, `expireAt` and `options` off: nothing is found by them, and keys of rows belong in
 * no index. No id of a document holds one either: ids are hashes.
 */
export class ChangeStreamPaths {
  readonly client: FirestoreClient;
  readonly pipeline: DocumentReference;
  readonly topology: DocumentReference;
  readonly partitions: CollectionReference;
  readonly slots: CollectionReference;
  readonly #merges: CollectionReference;
  readonly #missing: CollectionReference;

  constructor(client: FirestoreClient, name: string) {
    this.client = client;
    this.pipeline = client.db.collection('pipelines').doc(name);
    this.topology = this.pipeline.collection('topology').doc('0');
    this.partitions = this.pipeline.collection('partitions');
    this.slots = this.pipeline.collection('slots');
    this.#merges = this.pipeline.collection('merges');
    this.#missing = this.pipeline.collection('missing');
  }

  slot(slot: number): DocumentReference {
    return this.slots.doc(String(slot));
  }

  partition(id: string): DocumentReference {
    return this.partitions.doc(id);
  }

  merge(id: string): DocumentReference {
    return this.#merges.doc(id);
  }

  missing(id: string): DocumentReference {
    return this.#missing.doc(id);
  }

  mergesOf(generation: number): Query {
    return this.#merges.where('generation', '==', generation);
  }

  missingOf(generation: number): Query {
    return this.#missing.where('generation', '==', generation);
  }

  /** Partitions that wait, rest or are held. */
  open(generation: number): Query {
    return this.partitions.where('open', '==', generation);
  }

  /** Partitions that wait, in their turn. */
  waiting(generation: number): Query {
    return this.#within('turn', generation);
  }

  /** The one of them whose turn comes last. */
  tail(generation: number): Query {
    const [from, to] = boundsOf(generation);
    return this.partitions.orderBy('turn', 'desc').startAt(to).endAt(from).limit(1);
  }

  /** Partitions that rest and whose time has come by then, the longest ago first. */
  rested(generation: number, now: number): Query {
    return this.#within('rest', generation, `${restOf(generation, now)}${AFTER_DIGITS}`);
  }

  ended(generation: number, how: EndKind): Query {
    return this.partitions.where('end', '==', endMark(generation, how));
  }

  #within(field: 'turn' | 'rest', generation: number, until?: string): Query {
    const [from, to] = boundsOf(generation);
    return this.partitions
      .orderBy(field)
      .startAt(from)
      .endBefore(until ?? to);
  }
}

/** The documents of a source, once the client is there. */
export type OpenChangeStream = (signal: AbortSignal) => Promise<ChangeStreamPaths>;

/** `kept`: completed, of a run that is done. */
export type EndKind = 'done' | 'completed' | 'kept';

/** Digits of numbers, so that texts in their order are numbers in theirs. */
const GENERATION_DIGITS = 9;
const ROUND_DIGITS = 15;
const MILLIS_DIGITS = 15;
const NANOS_DIGITS = 20;

/** Comes after every digit, and after `/`. */
const AFTER_DIGITS = ':';

const padded = (value: number | bigint, digits: number): string =>
  (value < 0 ? '0' : String(typeof value === 'number' ? Math.floor(value) : value)).padStart(digits, '0');

const generationOf = (generation: number): string => padded(generation, GENERATION_DIGITS);

/** Of texts that begin with a generation: from the first to behind the last. */
const boundsOf = (generation: number): readonly [from: string, to: string] => [
  `${generationOf(generation)}/`,
  `${generationOf(generation)}0`,
];

/** By which a partition is found while it waits: by round, in a round by low watermark. */
export const turnOf = (generation: number, round: number, lowWatermark: bigint): string =>
  `${generationOf(generation)}/${padded(round, ROUND_DIGITS)}/${padded(lowWatermark, NANOS_DIGITS)}`;

/** By which a partition is found while it rests: the time from which it may be taken. */
export const restOf = (generation: number, notBefore: number): string =>
  `${generationOf(generation)}/${padded(notBefore, MILLIS_DIGITS)}`;

export const endMark = (generation: number, how: EndKind): string => `${generationOf(generation)}/${how}`;
