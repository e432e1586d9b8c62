import { Firestore, type QueryDocumentSnapshot } from '@google-cloud/firestore';
import { readSetApart, type SetApart } from './rests.ts';

/** One checkpoint as its document tells of it; times in milliseconds since the epoch. */
export interface Checkpoint {
  readonly pipeline: string;
  readonly number: number;
  readonly segments: number;
  readonly envelopes: number;
  /** When its oldest envelope was staged. */
  readonly stagedAt: number;
  readonly completedAt: number;
  /** Absent until the last of its envelopes is answered and a tick has noticed. */
  readonly committedAt?: number;
}

/** Reads what pipelines have in Firestore, past the connector: with the official client, from the documents. */
export interface StagedState extends AsyncDisposable {
  /** Lowest number first. */
  checkpoints(pipeline: string): Promise<Checkpoint[]>;
  /** Segments that are there. */
  segments(pipeline: string): Promise<number>;
  /** Segments of which something is set apart. */
  rests(pipeline: string): Promise<number>;
  /** What is set apart of them. */
  setApart(pipeline: string): Promise<SetApart[]>;
}

export function openStagedState(firestoreHost: string, projectId: string): StagedState {
  const firestore = new Firestore({ projectId, host: firestoreHost, ssl: false });
  const collectionOf = (pipeline: string, name: string) =>
    firestore.collection('pipelines').doc(pipeline).collection(name);
  const countOf = async (pipeline: string, name: string): Promise<number> =>
    (await collectionOf(pipeline, name).count().get()).data().count;
  return {
    async checkpoints(pipeline) {
      const { docs } = await collectionOf(pipeline, 'checkpoints').orderBy('number').get();
      return docs.map((document) => readCheckpoint(pipeline, document));
    },
    segments: (pipeline) => countOf(pipeline, 'segments'),
    rests: (pipeline) => countOf(pipeline, 'rests'),
    async setApart(pipeline) {
      const { docs } = await collectionOf(pipeline, 'rests').get();
      return docs.map((document) => readSetApart(document.id, bytesOf(document)));
    },
    [Symbol.asyncDispose]: () => firestore.terminate(),
  };
}

function bytesOf(document: QueryDocumentSnapshot): Uint8Array {
  const payload: unknown = document.get('payload');
  if (payload instanceof Uint8Array) return payload;
  throw new TypeError(`${document.ref.path}: payload must be bytes`);
}

function readCheckpoint(pipeline: string, document: QueryDocumentSnapshot): Checkpoint {
  const numberAt = (path: string): number => {
    const value: unknown = document.get(path);
    if (typeof value === 'number') return value;
    throw new TypeError(`${document.ref.path}: ${path} must be a number`);
  };
  return {
    pipeline,
    number: numberAt('number'),
    segments: numberAt('detail.segments'),
    envelopes: numberAt('detail.envelopes'),
    stagedAt: numberAt('detail.oldestStagedAt'),
    completedAt: numberAt('detail.completedAt'),
    ...(document.get('detail.committedAt') !== undefined && { committedAt: numberAt('detail.committedAt') }),
  };
}
