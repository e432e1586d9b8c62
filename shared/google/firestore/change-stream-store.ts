import { isDeepStrictEqual } from 'node:util';
import type { DocumentSnapshot, Query, Transaction, WriteBatch } from '@google-cloud/firestore';
import type { Ledger, Topology } from '../../change-stream/ledger/ledger.ts';
import type { HeldPartition, Partition } from '../../change-stream/ledger/partition.ts';
import type { LedgerWrite } from '../../change-stream/ledger/writes.ts';
import type {
  ChangeStreamCoordinatorStore,
  ChangeStreamStatusStore,
  ChangeStreamStore,
  WaitingPartition,
} from '../../change-stream/ports.ts';
import type { Source } from '../../change-stream/source.ts';
import type { FencedCommit, Led } from '../../coordinator/ports.ts';
import type { Versioned } from '../../model/store.ts';
import {
  changedPartitionFields,
  heldFields,
  mergeFields,
  missingFields,
  partitionFields,
  readHeldPartition,
  readMerge,
  readMissing,
  readPartition,
  readSource,
  sourceFields,
} from './change-stream-documents.ts';
import type { ChangeStreamPaths, OpenChangeStream } from './change-stream-paths.ts';
import { fieldsOf, numbersOf, unchangedSince, versionOf } from './fields.ts';
import { createSlotStore, type SlotDocuments, slotsOf } from './slot-store.ts';
import { commitBatch, resultOf, storeCall } from './store-call.ts';

/** The view of a slot. */
export function createChangeStreamStore(open: OpenChangeStream): ChangeStreamStore {
  return {
    ...createSlotStore(async (signal) => slotDocuments(await open(signal))),
    readSource: async (signal) => (await readPipeline(open, signal))?.value,
    async readWaiting(generation, now, limit, signal) {
      const paths = await open(signal);
      const queries = [paths.rested(generation, now), paths.waiting(generation)];
      const found = await Promise.all(
        queries.map((query) => partitionsOf('look for partitions that wait', query.limit(limit), signal)),
      );
      return found
        .flatMap((read) => read.flatMap(waitingPartition))
        .toSorted(inTurn)
        .slice(0, limit);
    },
    async readTailRound(generation, signal) {
      const paths = await open(signal);
      const [last] = await partitionsOf('look for the end of the queue', paths.tail(generation), signal);
      return last?.value.round ?? 0;
    },
    async countOpen(generation, signal) {
      const paths = await open(signal);
      const query = paths.open(generation).count();
      return (await storeCall('count partitions', signal, () => query.get())).data().count;
    },
    async readMerges(ids, signal) {
      if (ids.length === 0) return new Map();
      const paths = await open(signal);
      const references = ids.map((id) => paths.merge(id));
      const found = await storeCall('read merges', signal, () => paths.client.db.getAll(...references));
      return new Map(found.filter(({ exists }) => exists).map((each) => [each.id, versioned(each, readMerge)]));
    },
  };
}

function waitingPartition({ value, version }: Versioned<Partition>): WaitingPartition[] {
  const { state } = value;
  if (state.kind !== 'waiting' && state.kind !== 'resting') return [];
  return [{ partition: { ...value, state }, version }];
}

/** By round, then by low watermark. */
function inTurn({ partition: left }: WaitingPartition, { partition: right }: WaitingPartition): number {
  const [ours, theirs] = [left.position.lowWatermark, right.position.lowWatermark];
  return left.round - right.round || (ours < theirs ? -1 : ours > theirs ? 1 : 0);
}

/** The coordinator's view. */
export function createChangeStreamCoordinatorStore(open: OpenChangeStream): ChangeStreamCoordinatorStore {
  return {
    ...createLedgerReader(open),
    async readTopology(signal) {
      const { topology } = await open(signal);
      return topologyOf(await storeCall('read the version of the topology', signal, () => topology.get()));
    },
    async readCompleted(generation, limit, signal) {
      const paths = await open(signal);
      return partitionsOf('look for completed partitions', paths.ended(generation, 'completed').limit(limit), signal);
    },
    async readDead(generation, limit, signal) {
      const paths = await open(signal);
      const query = paths.open(generation).select().limit(limit);
      const { docs } = await storeCall('look for partitions of an old start', signal, () => query.get());
      return docs.map(({ id }) => id);
    },
    async commit(commit, signal) {
      const paths = await open(signal);
      if (await commitBatch('commit a tick', tickBatch(paths, commit), signal)) return 'committed';
      // The client repeats a commit whose answer was lost, and then it is its own work that it runs into.
      const now = await readPipeline(open, signal);
      return now && isDeepStrictEqual(now.value, commit.pipeline.value) ? 'committed' : 'conflict';
    },
  };
}

/** The view of whoever looks at a source, or pauses and resumes it. */
export const createChangeStreamStatusStore = (open: OpenChangeStream): ChangeStreamStatusStore => ({
  ...createLedgerReader(open),
  async write(pipeline, signal) {
    const paths = await open(signal);
    return resultOf(await commitBatch('write the state of the pipeline', tickBatch(paths, { pipeline }), signal));
  },
});

const createLedgerReader = (
  open: OpenChangeStream,
): Pick<ChangeStreamCoordinatorStore, 'readPipeline' | 'readLedger' | 'readDone'> => ({
  readPipeline: (signal) => readPipeline(open, signal),
  async readLedger(generation, signal) {
    const paths = await open(signal);
    const read = await storeCall('read the ledger', signal, () =>
      paths.client.db.runTransaction((transaction) => readSnapshots(paths, generation, transaction), {
        readOnly: true,
      }),
    );
    return ledgerOf(paths, read);
  },
  async readDone(generation, signal) {
    const paths = await open(signal);
    const done = await partitionsOf(
      'read finished partitions',
      paths.ended(generation, 'done').limit(MAX_DONE),
      signal,
    );
    return done.map(({ value }) => value);
  },
});

/** Where there are more, a lost position is taken for an earlier one than it was: nothing is left out by that. */
const MAX_DONE = 5000;

async function readPipeline(open: OpenChangeStream, signal: AbortSignal): Promise<Versioned<Led<Source>> | undefined> {
  const { pipeline } = await open(signal);
  const snapshot = await storeCall('read the state of the pipeline', signal, () => pipeline.get());
  return snapshot.exists ? versioned(snapshot, readSource) : undefined;
}

interface LedgerSnapshots {
  readonly topology: DocumentSnapshot;
  readonly partitions: readonly DocumentSnapshot[];
  readonly merges: readonly DocumentSnapshot[];
  readonly missing: readonly DocumentSnapshot[];
  readonly slots: readonly DocumentSnapshot[];
}

/** As everything was at one time. */
async function readSnapshots(
  paths: ChangeStreamPaths,
  generation: number,
  transaction: Transaction,
): Promise<LedgerSnapshots> {
  const topology = await transaction.get(paths.topology);
  const docsOf = async (query: Query): Promise<readonly DocumentSnapshot[]> => (await transaction.get(query)).docs;
  const [open, completed, merges, missing, slots] = await Promise.all([
    docsOf(paths.open(generation)),
    docsOf(paths.ended(generation, 'completed')),
    docsOf(paths.mergesOf(generation)),
    docsOf(paths.missingOf(generation)),
    docsOf(paths.slots),
  ]);
  return { topology, partitions: [...open, ...completed], merges, missing, slots };
}

const ledgerOf = (paths: ChangeStreamPaths, read: LedgerSnapshots): Ledger => ({
  topology: topologyOf(read.topology),
  partitions: read.partitions.map((each) => versioned(each, readPartition)),
  merges: read.merges.map((each) => versioned(each, readMerge)),
  missing: read.missing.map((each) => versioned(each, readMissing)),
  slots: slotsOf(slotDocuments(paths), read.slots),
});

const topologyOf = (snapshot: DocumentSnapshot): Topology =>
  snapshot.exists
    ? { number: numbersOf(snapshot)(fieldsOf(snapshot), 'number'), version: versionOf(snapshot) }
    : { number: 0, version: undefined };

async function partitionsOf(operation: string, query: Query, signal: AbortSignal): Promise<Versioned<Partition>[]> {
  const { docs } = await storeCall(operation, signal, () => query.get());
  return docs.map((each) => versioned(each, readPartition));
}

const versioned = <Value>(snapshot: DocumentSnapshot, read: (from: DocumentSnapshot) => Value): Versioned<Value> => ({
  value: read(snapshot),
  version: versionOf(snapshot),
});

function tickBatch(
  paths: ChangeStreamPaths,
  { pipeline: { version, value }, changes = [] }: FencedCommit<Source, readonly LedgerWrite[]>,
): WriteBatch {
  const batch = paths.client.db.batch();
  if (version === undefined) batch.create(paths.pipeline, sourceFields(value));
  else {
    const { FieldValue } = paths.client;
    const gone = Object.fromEntries(OPTIONAL.map((name) => [name, FieldValue.delete()]));
    batch.update(paths.pipeline, { ...gone, ...sourceFields(value) }, unchangedSince(paths.client, version));
  }
  for (const change of changes) addLedgerWrite(batch, paths, change);
  return batch;
}

const OPTIONAL = ['startTime', 'endTime', 'retention', 'problem', 'written'];

const slotDocuments = (paths: ChangeStreamPaths): SlotDocuments<HeldPartition, LedgerWrite> => ({
  ...{ client: paths.client, slots: paths.slots, heldFields, readHeld: readHeldPartition },
  slot: (slot) => paths.slot(slot),
  addChange: (batch, change) => {
    addLedgerWrite(batch, paths, change);
  },
});

function addLedgerWrite(batch: WriteBatch, paths: ChangeStreamPaths, write: LedgerWrite): void {
  const { client } = paths;
  const { FieldValue } = client;
  switch (write.kind) {
    case 'partition': {
      const { partition, version } = write;
      const document = paths.partition(partition.id);
      if (version === undefined) batch.set(document, partitionFields(partition, client));
      else batch.update(document, changedPartitionFields(partition, client), unchangedSince(client, version));
      return;
    }
    case 'new-partition':
      batch.create(paths.partition(write.partition.id), partitionFields(write.partition, client));
      return;
    case 'partition-gone':
      batch.delete(paths.partition(write.id));
      return;
    case 'merge': {
      const document = paths.merge(write.merge.id);
      if (write.version === undefined) batch.create(document, mergeFields(write.merge));
      else batch.update(document, mergeFields(write.merge), unchangedSince(client, write.version));
      return;
    }
    case 'merge-gone':
      batch.delete(paths.merge(write.id), unchangedSince(client, write.version));
      return;
    case 'missing': {
      const document = paths.missing(write.missing.id);
      if (write.version === undefined) batch.create(document, missingFields(write.missing));
      else batch.update(document, missingFields(write.missing), unchangedSince(client, write.version));
      return;
    }
    case 'missing-gone':
      batch.delete(paths.missing(write.id), unchangedSince(client, write.version));
      return;
    case 'topology-moved':
      batch.set(paths.topology, { number: FieldValue.increment(1) }, { merge: true });
      return;
    case 'topology-moved-from':
      if (write.version === undefined) batch.create(paths.topology, { number: 1 });
      else batch.update(paths.topology, { number: FieldValue.increment(1) }, unchangedSince(client, write.version));
      return;
    default:
      write satisfies never;
  }
}
