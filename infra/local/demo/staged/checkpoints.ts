import { Firestore, type QueryDocumentSnapshot } from '@google-cloud/firestore';

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
  /** Segments that are there, and what is set apart. */
  segments(pipeline: string): Promise<number>;
}

export function openStagedState(firestoreHost: string, projectId: string): StagedState {
  const firestore = new Firestore({ projectId, host: firestoreHost, ssl: false });
  const pipelineOf = (name: string) => firestore.collection('pipelines').doc(name);
  return {
    async checkpoints(pipeline) {
      const { docs } = await pipelineOf(pipeline).collection('checkpoints').orderBy('number').get();
      return docs.map((document) => readCheckpoint(pipeline, document));
    },
    async segments(pipeline) {
      const collections = ['segments', 'rests'].map((name) => pipelineOf(pipeline).collection(name).count().get());
      return (await Promise.all(collections)).reduce((sum, counted) => sum + counted.data().count, 0);
    },
    [Symbol.asyncDispose]: () => firestore.terminate(),
  };
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
