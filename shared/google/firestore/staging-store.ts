import type { DocumentReference } from '@google-cloud/firestore';
import { MAX_SEGMENT_BYTES, MAX_SEGMENTS_PER_COMMIT, type NewSegment, type StagingStore } from '../../staged/ports.ts';
import { StoreError } from '../../model/store.ts';
import { createBacklogCount } from './backlog-count.ts';
import { HEAD_FIELDS, stagedFields } from './documents.ts';
import { type OpenDocuments, type PipelineDocuments, readPipelineDocument } from './pipeline-documents.ts';
import { storeCall } from './store-call.ts';

/** After that a part without a head may be deleted by a TTL policy: nobody stages one segment for a day. */
const ORPHANED_AFTER_MILLIS = 24 * 60 * 60 * 1000;

/** Segments as documents: the rest of a large payload first, then all heads in one commit, which makes them visible. */
export function createStagingStore(open: OpenDocuments): StagingStore {
  return {
    async stage(segments, signal) {
      if (segments.length > MAX_SEGMENTS_PER_COMMIT) {
        throw new RangeError(`${segments.length} segments in one commit, at most ${MAX_SEGMENTS_PER_COMMIT} fit`);
      }
      const documents = await open(signal);
      for (const segment of segments) await storeParts(documents, segment, signal);
      await storeHeads(documents, segments, signal);
    },
    async readPipeline(signal) {
      return (await readPipelineDocument(open, signal))?.value;
    },
    countBacklog: createBacklogCount(open),
  };
}

/**
 * Makes all heads, or those that are not there yet: where the answer to an earlier attempt was lost, or the client
 * repeated it by itself, some or all of them are.
 */
async function storeHeads(
  documents: PipelineDocuments,
  segments: readonly NewSegment[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await commitHeads(documents, segments, signal);
  } catch (error) {
    if (!isStored(error)) throw error;
    const missing = await missingOf(documents, segments, signal);
    if (missing.length > 0) await commitHeads(documents, missing, signal);
  }
}

async function commitHeads(
  documents: PipelineDocuments,
  segments: readonly NewSegment[],
  signal: AbortSignal,
): Promise<void> {
  const { db, FieldValue } = documents.client;
  const batch = db.batch();
  for (const { id, envelopes, payload, stagedAt } of segments) {
    const parts = partsOf(documents, id, payload);
    batch.create(documents.segment(id), {
      ...stagedFields({ envelopes, bytes: payload.length, parts: parts.length, stagedAt }),
      payload: payload.subarray(0, MAX_SEGMENT_BYTES),
    });
    for (const { document } of parts) batch.update(document, { orphanedAfter: FieldValue.delete() });
  }
  await storeCall(segments.length === 1 ? 'store a segment' : `store ${segments.length} segments`, signal, () =>
    batch.commit(),
  );
}

interface Part {
  readonly document: DocumentReference;
  readonly bytes: Buffer;
}

/** What of a payload does not fit in its head. */
function partsOf(documents: PipelineDocuments, id: string, payload: Buffer): Part[] {
  const count = Math.max(0, Math.ceil(payload.length / MAX_SEGMENT_BYTES) - 1);
  return documents.parts(id, count).map((document, index) => ({
    document,
    bytes: payload.subarray((index + 1) * MAX_SEGMENT_BYTES, (index + 2) * MAX_SEGMENT_BYTES),
  }));
}

/** Each part is a commit of its own, so that one that is there already never hinders another. */
async function storeParts(
  documents: PipelineDocuments,
  { id, payload, stagedAt }: NewSegment,
  signal: AbortSignal,
): Promise<void> {
  const orphanedAfter = documents.client.Timestamp.fromMillis(stagedAt + ORPHANED_AFTER_MILLIS);
  for (const { document, bytes } of partsOf(documents, id, payload)) {
    try {
      await storeCall('store a part of a large segment', signal, () =>
        document.create({ payload: bytes, orphanedAfter }),
      );
    } catch (error) {
      // Never written over: a part whose head is there must not be marked as an orphan again.
      if (!isStored(error)) throw error;
    }
  }
}

async function missingOf(
  documents: PipelineDocuments,
  segments: readonly NewSegment[],
  signal: AbortSignal,
): Promise<NewSegment[]> {
  const references = segments.map(({ id }) => documents.segment(id));
  const found = await storeCall('look for segments that were stored before', signal, () =>
    documents.client.db.getAll(...references, { fieldMask: HEAD_FIELDS }),
  );
  return segments.filter((_, index) => !found[index]?.exists);
}

const isStored = (error: unknown): boolean => error instanceof StoreError && error.status === 'ALREADY_EXISTS';
