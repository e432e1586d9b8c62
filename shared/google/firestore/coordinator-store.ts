import { isDeepStrictEqual } from 'node:util';
import type { Query, QueryDocumentSnapshot, WriteBatch } from '@google-cloud/firestore';
import type { FencedCommit } from '../../coordinator/ports.ts';
import type { CoordinatorStore } from '../../staged/ports.ts';
import type { CheckpointChanges, Progress, SegmentHead } from '../../staged/state.ts';
import type { Versioned } from '../../model/store.ts';
import {
  checkpointFields,
  HEAD_FIELDS,
  pipelineFields,
  readCheckpointState,
  readSegmentHead,
  unchangedSince,
  versionOf,
} from './documents.ts';
import { commitBatch, type OpenDocuments, type PipelineDocuments, readPipelineDocument } from './pipeline-documents.ts';
import { storeCall } from './store-call.ts';

/** How long a committed checkpoint is kept for people, where a TTL policy on `expireAt` deletes it then. */
const KEPT_MILLIS = 30 * 24 * 60 * 60 * 1000;

/** What the coordinator reads, by equality on one field each, and its one atomic commit. */
export function createCoordinatorStore(open: OpenDocuments): CoordinatorStore {
  return {
    readPipeline: (signal) => readPipelineDocument(open, signal),
    async readStaged(limit, signal) {
      const { segments } = await open(signal);
      return headsOf('read staged segments', segments.where('state', '==', 'staged').limit(limit), signal);
    },
    async countStagedSegments(signal) {
      const { segments } = await open(signal);
      const counted = await storeCall('count staged segments', signal, () =>
        segments.where('state', '==', 'staged').count().get(),
      );
      return counted.data().count;
    },
    async readOpenCheckpoints(limit, signal) {
      const { checkpoints } = await open(signal);
      // Of one state they come in the order of their ids, which is that of their numbers.
      const query = checkpoints.where('state', '==', 'completed').limit(limit);
      const { docs } = await storeCall('read open checkpoints', signal, () => query.get());
      return docs.map((document) => ({ value: readCheckpointState(document), version: versionOf(document) }));
    },
    async readOwned(checkpoint, limit, signal) {
      const { segments } = await open(signal);
      const query = segments.where('checkpoint', '==', checkpoint).limit(limit);
      return headsOf(`read the segments of checkpoint ${checkpoint}`, query, signal);
    },
    async commit(commit, signal) {
      const documents = await open(signal);
      const results = await commitBatch('commit a tick', batchOf(documents, commit), signal);
      if (results) return 'committed';
      // The client repeats a commit whose answer was lost, and then it is its own work that it runs into.
      const now = await readPipelineDocument(open, signal);
      return now && isDeepStrictEqual(now.value, commit.pipeline.value) ? 'committed' : 'conflict';
    },
  };
}

export async function headsOf(operation: string, query: Query, signal: AbortSignal): Promise<Versioned<SegmentHead>[]> {
  const { docs } = await storeCall(operation, signal, () => query.select(...HEAD_FIELDS).get());
  return docs.map((document: QueryDocumentSnapshot) => ({
    value: readSegmentHead(document),
    version: versionOf(document),
  }));
}

function batchOf(documents: PipelineDocuments, commit: FencedCommit<Progress, CheckpointChanges>): WriteBatch {
  const { pipeline, changes = {} } = commit;
  const { checkpoint, own = [], redispatch = [], markCommitted = [] } = changes;
  const { client } = documents;
  const batch = client.db.batch();
  if (pipeline.version === undefined) batch.create(documents.pipeline, pipelineFields(pipeline.value));
  else batch.update(documents.pipeline, { ...pipeline.value }, unchangedSince(client, pipeline.version));
  if (checkpoint) batch.create(documents.checkpoint(checkpoint.number), checkpointFields(checkpoint));
  for (const { id, version, checkpoint: number, lease } of own) {
    const fields = { state: 'owned' satisfies SegmentHead['state'], checkpoint: number, 'detail.lease': lease };
    batch.update(documents.segment(id), fields, unchangedSince(client, version));
  }
  for (const { id, version, lease } of redispatch) {
    batch.update(documents.segment(id), { 'detail.lease': lease }, unchangedSince(client, version));
  }
  for (const { number, version, committedAt } of markCommitted) {
    const fields = {
      state: 'committed',
      'detail.committedAt': committedAt,
      expireAt: client.Timestamp.fromMillis(committedAt + KEPT_MILLIS),
    };
    batch.update(documents.checkpoint(number), fields, unchangedSince(client, version));
  }
  return batch;
}
