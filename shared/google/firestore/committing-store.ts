import type { DocumentReference, DocumentSnapshot, WriteBatch } from '@google-cloud/firestore';
import type {
  CommittingStore,
  FinishedSegment,
  MarkerCluster,
  NewRest,
  StoredRest,
  StoredSegment,
} from '../../staged/ports.ts';
import { MAX_SEGMENT_BYTES } from '../../staged/ports.ts';
import { StoreError } from '../../model/store.ts';
import { readClusters, readPayload, readRestHead, readSegmentHead, restFields } from './documents.ts';
import { unchangedSince, versionOf } from './fields.ts';
import { type OpenDocuments, type PipelineDocuments, readPipelineDocument } from './pipeline-documents.ts';
import { commitBatch, resultOf, storeCall } from './store-call.ts';

/** Writes of one commit, and payloads of rests in one (Firestore: 10 MiB a request, 4 MiB on its emulator). */
const MAX_WRITES = 400;
const MAX_RESTS_PER_COMMIT = 4;

/** Segments and rests with their payloads, and their end. */
export function createCommittingStore(open: OpenDocuments): CommittingStore {
  return {
    async readPipeline(signal) {
      return (await readPipelineDocument(open, signal))?.value;
    },
    async readRange(range, limit, signal) {
      const documents = await open(signal);
      const query = documents.inRange(range).limit(limit);
      const { docs } = await storeCall('read segments', signal, () => query.get());
      return segmentsOf(documents, docs, signal);
    },
    async readSegments(ids, signal) {
      const documents = await open(signal);
      const found = await readAll(
        'read segments',
        documents,
        ids.map((id) => documents.segment(id)),
        signal,
      );
      return segmentsOf(documents, found, signal);
    },
    async finish(segments, signal) {
      const documents = await open(signal);
      for (const batch of finishBatches(documents, segments)) {
        await storeCall('finish segments', signal, () => batch.commit());
      }
    },
    async readRests(ids, signal) {
      const documents = await open(signal);
      const found = await readAll(
        'read rests',
        documents,
        ids.map((id) => documents.rest(id)),
        signal,
      );
      const rests = await Promise.all(found.map((snapshot) => restOf(documents, snapshot, signal)));
      return rests.filter((rest) => rest !== undefined);
    },
    async finishRest({ stored: { head, version }, rest }, signal) {
      const documents = await open(signal);
      const batch = documents.client.db.batch();
      const unchanged = unchangedSince(documents.client, version);
      if (rest) {
        batch.update(documents.rest(head.id), { ...restFields(rest.head), payload: payloadOf(rest) }, unchanged);
      } else {
        batch.delete(documents.rest(head.id), unchanged);
        for (const part of documents.parts(head.id, head.parts)) batch.delete(part);
      }
      return resultOf(await commitBatch('finish a rest', batch, signal));
    },
    async noteCluster(wanted, instead, signal) {
      const documents = await open(signal);
      for (let attempt = 1; attempt <= MAX_NOTES; attempt += 1) {
        const noted = await noteOnce(documents, wanted, instead, signal);
        if (noted !== undefined) return noted;
      }
      throw new StoreError(NOTE_CLUSTER, 'ABORTED', 'the pipeline was written by others meanwhile, again and again');
    },
  };
}

const NOTE_CLUSTER = 'note the cluster of an app profile';

/** The coordinator writes to the same document, once in a few seconds. */
const MAX_NOTES = 5;

/** The cluster that is noted then; undefined where somebody else was faster, and nothing was changed. */
async function noteOnce(
  { client, pipeline }: PipelineDocuments,
  { instance, cluster }: MarkerCluster,
  instead: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const snapshot = await storeCall(NOTE_CLUSTER, signal, () => pipeline.get());
  if (!snapshot.exists) return cluster;
  const clusters = readClusters(snapshot);
  const noted = clusters[instance];
  if (noted !== undefined && noted !== instead) return noted;
  const batch = client.db.batch();
  const fields = { clusters: { ...clusters, [instance]: cluster } };
  batch.update(pipeline, fields, unchangedSince(client, versionOf(snapshot)));
  return (await commitBatch(NOTE_CLUSTER, batch, signal)) ? cluster : undefined;
}

async function readAll(
  operation: string,
  { client }: PipelineDocuments,
  references: readonly DocumentReference[],
  signal: AbortSignal,
): Promise<readonly DocumentSnapshot[]> {
  if (references.length === 0) return [];
  const found = await storeCall(operation, signal, () => client.db.getAll(...references));
  return found.filter(({ exists }) => exists);
}

async function segmentsOf(
  documents: PipelineDocuments,
  found: readonly DocumentSnapshot[],
  signal: AbortSignal,
): Promise<StoredSegment[]> {
  const whole = await Promise.all(
    found.map(async (snapshot): Promise<StoredSegment | undefined> => {
      const head = readSegmentHead(snapshot);
      const payload = await wholePayload(documents, snapshot, head, signal);
      if (payload) return { head, payload };
      const again = await storeCall(READ_PARTS, signal, () => documents.segment(head.id).get());
      if (!again.exists) return undefined;
      throw new StoreError(READ_PARTS, 'DATA_LOSS', `segment ${head.id} is there and a part of it is not`);
    }),
  );
  return whole.filter((segment) => segment !== undefined);
}

/**
 * Undefined where parts are missing. They go only with the end of the rest, so this is a commit that the client repeated
 * after it: it is taken away again.
 */
async function restOf(
  documents: PipelineDocuments,
  snapshot: DocumentSnapshot,
  signal: AbortSignal,
): Promise<StoredRest | undefined> {
  const head = readRestHead(snapshot);
  const version = versionOf(snapshot);
  const payload = await wholePayload(documents, snapshot, head, signal);
  if (payload) return { head, version, payload };
  const batch = documents.client.db.batch();
  batch.delete(documents.rest(head.id), unchangedSince(documents.client, version));
  await commitBatch('take a rest away that was finished', batch, signal);
  return undefined;
}

const READ_PARTS = 'read the parts of a large segment';

/** Undefined where a part is missing. */
async function wholePayload(
  documents: PipelineDocuments,
  snapshot: DocumentSnapshot,
  { id, parts }: { readonly id: string; readonly parts: number },
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const payload = readPayload(snapshot);
  if (parts === 0) return payload;
  const found = await readAll(READ_PARTS, documents, documents.parts(id, parts), signal);
  return found.length === parts ? Buffer.concat([payload, ...found.map(readPayload)]) : undefined;
}

/** What of a rest's payload stands in its own document. */
const payloadOf = ({ payload }: NewRest): Buffer => payload.subarray(0, MAX_SEGMENT_BYTES);

/** Each segment's end is in one of them. */
function* finishBatches(documents: PipelineDocuments, segments: readonly FinishedSegment[]): Generator<WriteBatch> {
  let batch = documents.client.db.batch();
  let writes = 0;
  let rests = 0;
  for (const { head, rest } of segments) {
    if (writes >= MAX_WRITES || rests >= MAX_RESTS_PER_COMMIT) {
      yield batch;
      batch = documents.client.db.batch();
      writes = rests = 0;
    }
    batch.delete(documents.segment(head.id));
    writes += 1;
    if (rest) {
      batch.set(documents.rest(head.id), { ...restFields(rest.head), payload: payloadOf(rest) });
      writes += 1;
      rests += 1;
    }
    // A rest that is as large keeps the parts.
    for (const part of documents.parts(head.id, head.parts).slice(rest?.head.parts ?? 0)) {
      batch.delete(part);
      writes += 1;
    }
  }
  if (writes > 0) yield batch;
}
