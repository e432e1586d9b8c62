import { isDeepStrictEqual } from 'node:util';
import type { Query, WriteBatch } from '@google-cloud/firestore';
import type { FencedCommit } from '../../coordinator/ports.ts';
import type { CoordinatorStore } from '../../staged/ports.ts';
import type { CheckpointChanges, Progress, RestHead, SegmentHead } from '../../staged/state.ts';
import { LANES, MAX_NUMBER, numbersOfLane } from '../../staged/segment-id.ts';
import {
  checkpointFields,
  HEAD_FIELDS,
  pipelineFields,
  readCheckpointState,
  readRestHead,
  readSegmentHead,
  REST_FIELDS,
} from './documents.ts';
import { unchangedSince } from './fields.ts';
import { type OpenDocuments, type PipelineDocuments, readPipelineDocument } from './pipeline-documents.ts';
import { commitBatch, storeCall } from './store-call.ts';

/** How long a committed checkpoint is kept for people, where a TTL policy on `expireAt` deletes it then. */
const KEPT_MILLIS = 30 * 24 * 60 * 60 * 1000;

/** What the coordinator reads, by ids or by one field, and its one atomic commit. */
export function createCoordinatorStore(open: OpenDocuments): CoordinatorStore {
  return {
    readPipeline: (signal) => readPipelineDocument(open, signal),
    async countSegments(range, signal) {
      const documents = await open(signal);
      const query = range ? documents.inRange(range) : documents.segments;
      const counted = await storeCall('count segments', signal, () => query.count().get());
      return { count: counted.data().count, readAt: counted.readTime.toMillis() };
    },
    async readHeads(range, limit, signal) {
      const documents = await open(signal);
      return headsOf('look at segments', documents.inRange(range).limit(limit), signal);
    },
    async readCheckpoints(numbers, signal) {
      const documents = await open(signal);
      const references = numbers.map((number) => documents.checkpoint(number));
      const found = await storeCall('read checkpoints', signal, () => documents.client.db.getAll(...references));
      return found.filter(({ exists }) => exists).map(readCheckpointState);
    },
    async readHighestNumber(signal) {
      const documents = await open(signal);
      const query = documents.checkpoints.orderBy('number', 'desc').limit(1);
      const { docs } = await storeCall('read the last checkpoint', signal, () => query.get());
      const last = docs.map((document) => readCheckpointState(document).number).at(0) ?? 0;
      const lanes = Array.from({ length: LANES }, (_, lane) => highestOfLane(documents, lane, last, signal));
      return Math.max(
        last,
        (await Promise.all(lanes)).reduce((most, number) => Math.max(most, number - 1), 0),
      );
    },
    async countRests(signal) {
      const { rests } = await open(signal);
      return (await storeCall('count rests', signal, () => rests.count().get())).data().count;
    },
    async readDueRests(now, limit, signal) {
      const { rests } = await open(signal);
      return restsOf('read due rests', rests.where('tryAt', '<=', now).orderBy('tryAt').limit(limit), signal);
    },
    async sampleRests(limit, signal) {
      const { rests } = await open(signal);
      return restsOf('look at rests', rests.limit(limit), signal);
    },
    async markSent(numbers, sentAt, signal) {
      const documents = await open(signal);
      const batch = documents.client.db.batch();
      for (const number of numbers) batch.set(documents.checkpoint(number), { number, detail: { sentAt } }, MERGED);
      await storeCall('mark checkpoints as sent', signal, () => batch.commit());
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

const MERGED = { merge: true };

export async function headsOf(operation: string, query: Query, signal: AbortSignal): Promise<SegmentHead[]> {
  const { docs } = await storeCall(operation, signal, () => query.select(...HEAD_FIELDS).get());
  return docs.map(readSegmentHead);
}

export async function restsOf(operation: string, query: Query, signal: AbortSignal): Promise<RestHead[]> {
  const { docs } = await storeCall(operation, signal, () => query.select(...REST_FIELDS).get());
  return docs.map(readRestHead);
}

/**
 * The highest number of a lane, found upwards: an order from the end would need an index of its own.
 *
 * @param atLeast where to begin.
 */
async function highestOfLane(
  documents: PipelineDocuments,
  lane: number,
  atLeast: number,
  signal: AbortSignal,
): Promise<number> {
  const isAnyFrom = async (number: number): Promise<boolean> => {
    const query = documents.inRange(numbersOfLane(lane, number, MAX_NUMBER)).limit(1);
    return (await headsOf('look for the highest number', query, signal)).length > 0;
  };
  if (!(await isAnyFrom(atLeast + 1))) return atLeast;
  let low = atLeast + 1;
  let step = 1;
  while (low + step <= MAX_NUMBER && (await isAnyFrom(low + step))) step *= 2;
  let high = Math.min(low + step, MAX_NUMBER + 1);
  // Something is at or above `low`, nothing at or above `high`.
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (await isAnyFrom(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function batchOf(
  documents: PipelineDocuments,
  { pipeline, changes }: FencedCommit<Progress, CheckpointChanges>,
): WriteBatch {
  const { client } = documents;
  const batch = client.db.batch();
  const fields = pipelineFields(pipeline.value);
  if (pipeline.version === undefined) batch.create(documents.pipeline, fields);
  else batch.update(documents.pipeline, fields, unchangedSince(client, pipeline.version));
  const complete = changes?.complete;
  if (complete) batch.create(documents.checkpoint(complete.number), checkpointFields(complete));
  for (const { number, committedAt } of changes?.committed ?? []) {
    const expireAt = client.Timestamp.fromMillis(committedAt + KEPT_MILLIS);
    batch.set(documents.checkpoint(number), { number, detail: { committedAt }, expireAt }, MERGED);
  }
  return batch;
}
