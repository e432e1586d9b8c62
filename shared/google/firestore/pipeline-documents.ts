import type { CollectionReference, DocumentReference, Query } from '@google-cloud/firestore';
import type { PipelineState } from '../../staged/state.ts';
import type { Versioned } from '../../model/store.ts';
import type { IdRange } from '../../staged/segment-id.ts';
import type { FirestoreClient } from './client.ts';
import { checkpointId, readPipelineState } from './documents.ts';
import { versionOf } from './fields.ts';
import { storeCall } from './store-call.ts';

/** Where the documents of one staged pipeline are. */
export class PipelineDocuments {
  readonly client: FirestoreClient;
  readonly pipeline: DocumentReference;
  readonly segments: CollectionReference;
  readonly checkpoints: CollectionReference;
  readonly rests: CollectionReference;
  readonly #parts: CollectionReference;

  constructor(client: FirestoreClient, name: string) {
    this.client = client;
    this.pipeline = client.db.collection('pipelines').doc(name);
    this.segments = this.pipeline.collection('segments');
    this.checkpoints = this.pipeline.collection('checkpoints');
    this.rests = this.pipeline.collection('rests');
    this.#parts = this.pipeline.collection('parts');
  }

  segment(id: string): DocumentReference {
    return this.segments.doc(id);
  }

  rest(id: string): DocumentReference {
    return this.rests.doc(id);
  }

  /** The segments of a range, in the order of their ids. */
  inRange({ from, to }: IdRange): Query {
    return this.segments.orderBy('__name__').startAt(from).endBefore(to);
  }

  /** The documents that hold the rest of a segment's payload, in its order. */
  parts(id: string, count: number): DocumentReference[] {
    return Array.from({ length: count }, (_, index) => this.#parts.doc(`${id}-${index + 1}`));
  }

  checkpoint(number: number): DocumentReference {
    return this.checkpoints.doc(checkpointId(number));
  }
}

/** The documents of a pipeline, once the client is there. */
export type OpenDocuments = (signal: AbortSignal) => Promise<PipelineDocuments>;

export async function readPipelineDocument(
  open: OpenDocuments,
  signal: AbortSignal,
): Promise<Versioned<PipelineState> | undefined> {
  const { pipeline } = await open(signal);
  const snapshot = await storeCall('read the state of the pipeline', signal, () => pipeline.get());
  return snapshot.exists ? { value: readPipelineState(snapshot), version: versionOf(snapshot) } : undefined;
}
