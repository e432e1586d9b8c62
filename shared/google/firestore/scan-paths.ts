import type { CollectionReference, DocumentReference, Query } from '@google-cloud/firestore';
import { placeOf } from '../../scan/runs/split.ts';
import type { FirestoreClient } from './client.ts';

/**
 * Where the documents of one scanned pipeline are, and by which of their fields they are found:
 *
 * ```
 * pipelines/{p}                     kind; everything else
 * pipelines/{p}/runs/{r}            open: true, while something is left to do; startedAt; head {everything else}; options
 * pipelines/{p}/runs/{r}/splits/{s} turn, while it waits; end, once it ended; failing, while it fails; a number for each
 *                                   count; detail {everything else}; expireAt, once nobody needs it
 * pipelines/{p}/slots/{k}           state {everything}
 * ```
 *
 * Each query is of one field, for which the index that Firestore makes by itself is enough. A deployment switches the
 * single-field indexes of `head`, `options`, `detail` and `state` off: nothing is found by them.
 */
export class ScanPaths {
  readonly client: FirestoreClient;
  readonly pipeline: DocumentReference;
  readonly runs: CollectionReference;
  readonly slots: CollectionReference;

  constructor(client: FirestoreClient, name: string) {
    this.client = client;
    this.pipeline = client.db.collection('pipelines').doc(name);
    this.runs = this.pipeline.collection('runs');
    this.slots = this.pipeline.collection('slots');
  }

  run(run: string): DocumentReference {
    return this.runs.doc(run);
  }

  slot(slot: number): DocumentReference {
    return this.slots.doc(String(slot));
  }

  splits(run: string): CollectionReference {
    return this.run(run).collection('splits');
  }

  split({ run, id }: { readonly run: string; readonly id: string }): DocumentReference {
    return this.splits(run).doc(id);
  }

  /** Splits of a plan that wait, in their turn; of no other plan. @param until those that may be taken by then; absent: all. */
  waiting(run: string, plan: string, until?: number): Query {
    const last = until === undefined ? endOfPlan(plan) : `${turnOf(plan, until)}${AFTER_DIGITS}`;
    return this.splits(run).orderBy('turn').startAt(`${plan}/`).endBefore(last);
  }

  /** Splits of a plan that ended. */
  ended(run: string, plan: string): Query {
    return this.splits(run).where('end', '>=', `${plan}/`).where('end', '<', endOfPlan(plan));
  }

  /** Those of them that failed. */
  failed(run: string, plan: string): Query {
    return this.splits(run).where('end', '==', endMark(plan, 'failed'));
  }
}

/** The documents of a pipeline, once the client is there. */
export type OpenScan = (signal: AbortSignal) => Promise<ScanPaths>;

/** Digits of a time and of a place, so that texts in their order are numbers in theirs. */
const TIME_DIGITS = 15;
const PLACE_DIGITS = 9;

/** Comes after every digit, and after `/`. */
const AFTER_DIGITS = ':';

const turnOf = (plan: string, since: number): string =>
  `${plan}/${String(Math.max(0, Math.floor(since))).padStart(TIME_DIGITS, '0')}/`;

/** By which a split is found while it waits: the time from which it may be taken, then its place. */
export const waitingTurn = (plan: string, since: number, id: string): string =>
  `${turnOf(plan, since)}${String(placeOf(id)).padStart(PLACE_DIGITS, '0')}`;

/** By which a split is counted once it ended. */
export const endMark = (plan: string, how: 'done' | 'failed'): string => `${plan}/${how}`;

/** After all that begins with a plan and `/`, before any other plan. */
const endOfPlan = (plan: string): string => `${plan}0`;
