import { isDeepStrictEqual } from 'node:util';
import type { DocumentSnapshot, Query, WriteBatch } from '@google-cloud/firestore';
import type { FencedCommit, Led } from '../../coordinator/ports.ts';
import { StoreError, type Versioned } from '../../model/store.ts';
import type {
  RunReader,
  RunsStore,
  ScanChanges,
  ScanCoordinatorStore,
  ScanProgress,
  ScanStore,
} from '../../scan/runs/ports.ts';
import type { Run } from '../../scan/runs/run.ts';
import {
  COUNT_NAMES,
  type HeldSplit,
  type SplitCounts,
  type SplitWrite,
  type WaitingSplit,
} from '../../scan/runs/split.ts';
import { unchangedSince, versionOf } from './fields.ts';
import {
  heldFields,
  newSplitFields,
  progressFields,
  readHeld,
  readProgress,
  readRun,
  readSplit,
  RUN_FIELDS,
  runFields,
  splitFields,
} from './scan-documents.ts';
import type { OpenScan, ScanPaths } from './scan-paths.ts';
import { addSlotCommit, createSlotStore, type OpenSlots, readSlots, type SlotDocuments } from './slot-store.ts';
import { commitBatch, resultOf, storeCall } from './store-call.ts';

/** The view of a slot. */
export const createScanStore = (open: OpenScan): ScanStore => ({
  ...createSlotStore(slotsOfScan(open)),
  ...createRunReader(open),
  async readWaiting(run, plan, now, limit, signal) {
    const paths = await open(signal);
    const query = paths.waiting(run, plan.id, now).limit(limit);
    const { docs } = await storeCall('look for splits that wait', signal, () => query.get());
    return docs.flatMap((snapshot) => waitingSplit(snapshot, run));
  },
});

function waitingSplit(snapshot: DocumentSnapshot, run: string): WaitingSplit[] {
  const split = readSplit(snapshot, run);
  const { state } = split;
  return state.kind === 'waiting' ? [{ split: { ...split, state }, version: versionOf(snapshot) }] : [];
}

const slotsOfScan =
  (open: OpenScan): OpenSlots<HeldSplit, SplitWrite> =>
  async (signal) =>
    slotDocuments(await open(signal));

const slotDocuments = (paths: ScanPaths): SlotDocuments<HeldSplit, SplitWrite> => ({
  ...{ client: paths.client, slots: paths.slots, heldFields, readHeld },
  slot: (slot) => paths.slot(slot),
  addChange(batch, { split, version }) {
    const fields = splitFields(split, paths.client);
    if (version === undefined) batch.set(paths.split(split), fields, { mergeFields: Object.keys(fields) });
    else batch.update(paths.split(split), fields, unchangedSince(paths.client, version));
  },
});

/** The coordinator's view. */
export function createScanCoordinatorStore(open: OpenScan): ScanCoordinatorStore {
  return {
    ...createRunReader(open),
    readPipeline: (signal) => readPipeline(open, signal),
    readSlots: (signal) => readSlots(slotsOfScan(open), signal),
    sumCounts: (run, signal) => sumCounts(open, run, signal),
    async commit(commit, signal) {
      const paths = await open(signal);
      if (await commitBatch('commit a tick', tickBatch(paths, commit), signal)) return 'committed';
      // The client repeats a commit whose answer was lost, and then it is its own work that it runs into.
      const now = await readPipeline(open, signal);
      return now && isDeepStrictEqual(now.value, commit.pipeline.value) ? 'committed' : 'conflict';
    },
  };
}

/** The view of whoever starts, cancels or looks at runs. */
export function createRunsStore(open: OpenScan): RunsStore {
  return {
    ...createRunReader(open),
    readPipeline: (signal) => readPipeline(open, signal),
    readSlots: (signal) => readSlots(slotsOfScan(open), signal),
    sumCounts: (run, signal) => sumCounts(open, run, signal),
    async readRun(run, signal) {
      const paths = await open(signal);
      const read = { fieldMask: RUN_FIELDS };
      const [snapshot] = await storeCall('read a run', signal, () => paths.client.db.getAll(paths.run(run), read));
      return snapshot?.exists ? versionedRun(snapshot) : undefined;
    },
    async start(pipeline, run, options, signal) {
      const paths = await open(signal);
      const batch = paths.client.db.batch();
      addPipeline(batch, paths, pipeline);
      batch.create(paths.run(run.id), { ...runFields(run, paths.client), options });
      return resultOf(await commitBatch('start a run', batch, signal));
    },
    async write({ version, run }, signal) {
      const paths = await open(signal);
      const batch = paths.client.db.batch();
      batch.update(paths.run(run.id), runFields(run, paths.client), unchangedSince(paths.client, version));
      return resultOf(await commitBatch('write a run', batch, signal));
    },
    async listRuns(limit, signal) {
      const { runs } = await open(signal);
      const found = await runsOf('list runs', runs.orderBy('startedAt', 'desc').limit(limit), signal);
      return found.map(({ value }) => value);
    },
    async countWaiting(run, plan, signal) {
      const paths = await open(signal);
      return countOf('count splits that wait', paths.waiting(run, plan.id), signal);
    },
    async readSplits(run, ids, signal) {
      if (ids.length === 0) return [];
      const paths = await open(signal);
      const references = ids.map((id) => paths.split({ run, id }));
      const found = await storeCall('read splits', signal, () => paths.client.db.getAll(...references));
      return found.filter(({ exists }) => exists).map((snapshot) => readSplit(snapshot, run));
    },
    async readFailing(run, limit, signal) {
      const paths = await open(signal);
      const query = paths.splits(run).orderBy('failing', 'desc').limit(limit);
      const { docs } = await storeCall('look for splits that fail', signal, () => query.get());
      return docs.map((snapshot) => readSplit(snapshot, run));
    },
  };
}

const createRunReader = (open: OpenScan): RunReader => ({
  async readOpenRuns(signal) {
    const { runs } = await open(signal);
    const found = await runsOf('look for runs', runs.where('open', '==', true), signal);
    return found.toSorted(({ value: left }, { value: right }) => left.startedAt - right.startedAt);
  },
  async readOptions(run, signal) {
    const paths = await open(signal);
    const read = { fieldMask: ['options'] };
    const operation = 'read the options of a run';
    const [snapshot] = await storeCall(operation, signal, () => paths.client.db.getAll(paths.run(run), read));
    const options: unknown = snapshot?.get('options');
    if (typeof options === 'string') return options;
    throw new StoreError(
      operation,
      'DATA_LOSS',
      `${paths.run(run).path} has none: nothing of this connector wrote that`,
    );
  },
  async countEnded(run, plan, signal) {
    const paths = await open(signal);
    return countOf('count splits that ended', paths.ended(run, plan.id), signal);
  },
  async countFailed(run, plan, signal) {
    const paths = await open(signal);
    return countOf('count splits that failed', paths.failed(run, plan.id), signal);
  },
});

async function readPipeline(open: OpenScan, signal: AbortSignal): Promise<Versioned<Led<ScanProgress>> | undefined> {
  const { pipeline } = await open(signal);
  const snapshot = await storeCall('read the state of the pipeline', signal, () => pipeline.get());
  return snapshot.exists ? { value: readProgress(snapshot), version: versionOf(snapshot) } : undefined;
}

async function runsOf(operation: string, query: Query, signal: AbortSignal): Promise<Versioned<Run>[]> {
  const { docs } = await storeCall(operation, signal, () => query.select(...RUN_FIELDS).get());
  return docs.map(versionedRun);
}

const versionedRun = (snapshot: DocumentSnapshot): Versioned<Run> => ({
  value: readRun(snapshot),
  version: versionOf(snapshot),
});

const countOf = async (operation: string, query: Query, signal: AbortSignal): Promise<number> =>
  (await storeCall(operation, signal, () => query.count().get())).data().count;

/** A query for each count: several sums in one would need an index of their own. Dead plans have counted nothing. */
async function sumCounts(open: OpenScan, run: string, signal: AbortSignal): Promise<SplitCounts> {
  const paths = await open(signal);
  const sums = COUNT_NAMES.map(async (name) => {
    const sum = paths.splits(run).aggregate({ sum: paths.client.AggregateField.sum(name) });
    const counted = await storeCall('sum up the counts of a run', signal, () => sum.get());
    return [name, counted.data().sum] as const;
  });
  return Object.fromEntries(await Promise.all(sums)) as Record<keyof SplitCounts, number>;
}

function addPipeline(
  batch: WriteBatch,
  { client, pipeline }: ScanPaths,
  { version, value }: FencedCommit<ScanProgress, ScanChanges>['pipeline'],
): void {
  if (version === undefined) batch.create(pipeline, progressFields(value));
  else batch.update(pipeline, progressFields(value), unchangedSince(client, version));
}

function tickBatch(paths: ScanPaths, { pipeline, changes }: FencedCommit<ScanProgress, ScanChanges>): WriteBatch {
  const { client } = paths;
  const batch = client.db.batch();
  addPipeline(batch, paths, pipeline);
  for (const { run, version } of changes?.runs ?? []) {
    batch.update(paths.run(run.id), runFields(run, client), unchangedSince(client, version));
  }
  for (const split of changes?.planned ?? []) batch.create(paths.split(split), newSplitFields(split));
  for (const { run, ids, expireAt } of changes?.expiring ?? []) {
    const fields = { expireAt: client.Timestamp.fromMillis(expireAt) };
    for (const id of ids) batch.set(paths.split({ run, id }), fields, { merge: true });
  }
  for (const slot of changes?.slots ?? []) addSlotCommit(batch, slotDocuments(paths), slot);
  return batch;
}
