import type { DocumentSnapshot, WriteBatch } from '@google-cloud/firestore';
import type { CommittingStore, StoredSegment } from '../../staged/ports.ts';
import type { SegmentHead } from '../../staged/state.ts';
import { StoreError, type Version } from '../../model/store.ts';
import { HEAD_FIELDS, readPayload, readSegmentHead, unchangedSince, versionAt, versionOf } from './documents.ts';
import { commitBatch, type OpenDocuments, type PipelineDocuments, resultOf } from './pipeline-documents.ts';
import { storeCall } from './store-call.ts';

type LeaseChange = Parameters<CommittingStore['lease']>[0][number];

/** Segments with their payloads, their leases, and their end. */
export function createCommittingStore(open: OpenDocuments): CommittingStore {
  return {
    async readSegments(ids, signal) {
      if (ids.length === 0) return [];
      const documents = await open(signal);
      const heads = await storeCall('read segments', signal, () =>
        documents.client.db.getAll(...ids.map((id) => documents.segment(id))),
      );
      const found = heads.filter(({ exists }) => exists);
      const whole = await Promise.all(found.map((head) => withParts(documents, head, signal)));
      return whole.filter((segment) => segment !== undefined);
    },
    async lease(segments, signal) {
      if (segments.length === 0) return [];
      const documents = await open(signal);
      const batch = documents.client.db.batch();
      for (const { id, version, lease, problem } of segments) {
        const given = problem === undefined ? {} : { 'detail.problem': problem, isGivenBack: true };
        const fields = { 'detail.lease': lease, ...given };
        batch.update(documents.segment(id), fields, unchangedSince(documents.client, version));
      }
      const results = await commitBatch('lease segments', batch, signal);
      return results ? results.map(({ writeTime }) => versionAt(writeTime)) : heldAlready(documents, segments, signal);
    },
    async finish(segments, finishedAt, signal) {
      const documents = await open(signal);
      return resultOf(await commitBatch('finish segments', finishBatch(documents, segments, finishedAt), signal));
    },
  };
}

/** Undefined where the segment was finished while it was read. */
async function withParts(
  documents: PipelineDocuments,
  snapshot: DocumentSnapshot,
  signal: AbortSignal,
): Promise<StoredSegment | undefined> {
  const head = readSegmentHead(snapshot);
  const segment = { head, version: versionOf(snapshot), payload: readPayload(snapshot) };
  if (head.parts === 0) return segment;
  const operation = 'read the parts of a large segment';
  const references = documents.parts(head.id, head.parts);
  const parts = await storeCall(operation, signal, () => documents.client.db.getAll(...references));
  if (parts.every(({ exists }) => exists)) {
    return { ...segment, payload: Buffer.concat([segment.payload, ...parts.map(readPayload)]) };
  }
  const again = await storeCall(operation, signal, () => documents.segment(head.id).get());
  if (!again.exists) return undefined;
  throw new StoreError(operation, 'DATA_LOSS', `segment ${head.id} is there and a part of it is not`);
}

/**
 * The client repeats a commit whose answer was lost, and then it is its own lease that it runs into: leases that are
 * there exactly as they were to be written are held.
 */
async function heldAlready(
  documents: PipelineDocuments,
  segments: readonly LeaseChange[],
  signal: AbortSignal,
): Promise<readonly Version[] | undefined> {
  const references = segments.map(({ id }) => documents.segment(id));
  const found = await storeCall('lease segments', signal, () =>
    documents.client.db.getAll(...references, { fieldMask: HEAD_FIELDS }),
  );
  const isHeld = segments.every(({ lease }, index) => {
    const snapshot = found[index];
    const now = snapshot?.exists === true ? readSegmentHead(snapshot).lease : undefined;
    return now?.holder === lease.holder && now.expiresAt === lease.expiresAt && now.attempts === lease.attempts;
  });
  return isHeld ? found.map(versionOf) : undefined;
}

function finishBatch(documents: PipelineDocuments, segments: readonly SegmentHead[], finishedAt: number): WriteBatch {
  const { db, FieldValue } = documents.client;
  const batch = db.batch();
  for (const { id, parts } of segments) {
    // The head's precondition is what counts each segment once; its parts go with it.
    batch.delete(documents.segment(id), { exists: true });
    for (const part of documents.parts(id, parts)) batch.delete(part);
  }
  const byCheckpoint = Map.groupBy(segments, ({ checkpoint = 0 }) => checkpoint);
  for (const [number, finished] of byCheckpoint) {
    const sum = (key: 'envelopes' | 'bytes'): number => finished.reduce((total, head) => total + head[key], 0);
    // Without a precondition on what was read, so that committers do not wait for each other.
    batch.update(documents.checkpoint(number), {
      'detail.remainingSegments': FieldValue.increment(-finished.length),
      'detail.remainingEnvelopes': FieldValue.increment(-sum('envelopes')),
      'detail.remainingBytes': FieldValue.increment(-sum('bytes')),
      'detail.lastFinishedAt': FieldValue.maximum(finishedAt),
    });
  }
  return batch;
}
