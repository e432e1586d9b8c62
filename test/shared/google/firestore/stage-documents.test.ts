import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LocalFirestore, startFirestoreServer } from '../../../../infra/local/servers/firestore/server.ts';
import { createDatabase, type StageViews, type Database } from '../../../../shared/google/firestore/database.ts';
import type { StatusName } from '../../../../shared/model/status.ts';
import type { NewSegment } from '../../../../shared/staged/ports.ts';
import { MAX_NUMBER, numbersOfLane, segmentId } from '../../../../shared/staged/segment-id.ts';
import { NO_AMOUNT, type PipelineState } from '../../../../shared/staged/state.ts';
import { StoreError } from '../../../../shared/model/store.ts';
import { withEnvironment } from '../../../support/environment.ts';

/** What only Firestore does: answers that are lost, statuses, waits. What every store does is in test/contract. */
let firestore: LocalFirestore;
let database: Database;
let stores: StageViews;
let pipelines = 0;
const { signal } = new AbortController();

beforeAll(async () => {
  firestore = await startFirestoreServer();
  database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: firestore.address }, async () => {
    await database.stage('first').staging.readPipeline(signal);
  });
});

beforeEach(() => {
  stores = database.stage(`pipeline-${(pipelines += 1)}`);
});

afterEach(() => {
  firestore.faults.clear();
});

afterAll(async () => {
  await database.close();
  await firestore.close();
});

const segment = (id: string, bytes = 10): NewSegment => ({
  id,
  envelopes: 1,
  payload: Buffer.alloc(bytes, 7),
  stagedAt: Date.UTC(2026, 0, 1),
});

const pipelineOf = (owner: string, change: Partial<PipelineState> = {}): PipelineState => ({
  lease: { owner, epoch: 1, expiresAt: 1 },
  completed: 0,
  lastCompletedAt: 0,
  backlog: NO_AMOUNT,
  rests: NO_AMOUNT,
  countedAt: 1,
  marks: [],
  ...change,
});

/** The commit happens, and its answer does not arrive: the client sends it again. */
const loseAnswer = (): void => {
  const status = { code: 'UNAVAILABLE', message: 'injected' } as const;
  firestore.faults.add({ method: 'Commit', effect: { kind: 'lose-answer', status } });
};

const refuse = (method: 'Commit' | 'BatchGetDocuments', code: StatusName): void => {
  firestore.faults.add({ method, effect: { kind: 'refuse', status: { code, message: 'injected' } }, times: Infinity });
};

const A = segmentId(0, 1, 'a'.repeat(16));
const B = segmentId(0, 1, 'b'.repeat(16));
const LARGE = segmentId(0, 1, 'c'.repeat(16));
const LANE = numbersOfLane(0, 0, MAX_NUMBER);

const idsStaged = async (): Promise<string[]> =>
  (await stores.coordinator.readHeads(LANE, 100, signal)).map(({ id }) => id);

describe('an answer that was lost', () => {
  test('to staging is success: the segments are there', async () => {
    loseAnswer();
    await stores.staging.stage([segment(A), segment(B)], signal);
    expect(await idsStaged()).toEqual([A, B]);
  });

  test('to staging a part of a large segment is success', async () => {
    loseAnswer();
    await stores.staging.stage([segment(LARGE, 2_000_000)], signal);
    const [read] = await stores.committing.readSegments([LARGE], signal);
    expect(read?.payload.equals(segment(LARGE, 2_000_000).payload)).toBe(true);
  });

  test("to the coordinator's commit is a commit, not a conflict with itself", async () => {
    loseAnswer();
    const complete = { number: 1, completedAt: 1, amount: NO_AMOUNT, oldestStagedAt: 1 };
    const first = { version: undefined, value: pipelineOf('us') };
    expect(await stores.coordinator.commit({ pipeline: first, changes: { complete, committed: [] } }, signal)).toBe(
      'committed',
    );
    const before = await stores.coordinator.readPipeline(signal);
    loseAnswer();
    const next = { version: before?.version, value: pipelineOf('us', { countedAt: 2, committed: 1 }) };
    expect(await stores.coordinator.commit({ pipeline: next }, signal)).toBe('committed');
    // The version that was read has passed, so the same commit by anybody else conflicts.
    const other = { version: before?.version, value: pipelineOf('them', { countedAt: 2 }) };
    expect(await stores.coordinator.commit({ pipeline: other }, signal)).toBe('conflict');
  });

  test('to the end of a segment is its end', async () => {
    await stores.staging.stage([segment(A), segment(LARGE, 2_000_000)], signal);
    const found = await stores.committing.readSegments([A, LARGE], signal);
    loseAnswer();
    await stores.committing.finish(found, signal);
    expect(await idsStaged()).toEqual([]);
  });
});

test('a rest that comes back after its parts are gone, by a commit that the client repeated, is taken away', async () => {
  await stores.staging.stage([segment(LARGE, 2_000_000)], signal);
  const [large] = await stores.committing.readSegments([LARGE], signal);
  const { head, payload } = large!;
  const rest = { head: { ...head, problem: 'refused', attempts: 0, tryAt: 1 }, payload };
  await stores.committing.finish([{ head, rest }], signal);
  const [read] = await stores.committing.readRests([LARGE], signal);
  expect(await stores.committing.finishRest({ stored: read! }, signal)).toBe('committed');
  await stores.committing.finish([{ head, rest }], signal);
  expect(await stores.coordinator.countRests(signal)).toBe(1);
  expect(await stores.committing.readRests([LARGE], signal)).toEqual([]);
  expect(await stores.coordinator.countRests(signal)).toBe(0);
});

describe('documents of the format before', () => {
  const UUID = '0b8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a11';
  const detail = { envelopes: 3, bytes: 7, parts: 0, stagedAt: 5 };

  /** Documents as the functions of the deployment before write them. */
  async function write(documents: Readonly<Record<string, object>>): Promise<void> {
    const { Firestore } = await import('@google-cloud/firestore');
    const client = await withEnvironment({ FIRESTORE_EMULATOR_HOST: firestore.address }, () =>
      Promise.resolve(new Firestore({ projectId: 'p', databaseId: 'connector' })),
    );
    try {
      for (const [path, fields] of Object.entries(documents)) {
        await client.doc(`pipelines/pipeline-${pipelines}${path}`).set(fields, { merge: true });
      }
    } finally {
      await client.terminate();
    }
  }

  test('are read: a segment, staged or owned, as number 0, and the pipeline with what was completed', async () => {
    const lease = { owner: '', epoch: 3, expiresAt: 9 };
    const backlog = { segments: 1, envelopes: 3, bytes: 7 };
    await write({
      '': { kind: 'staged-sink', lease, lastCheckpoint: 41, lastCompletedAt: 7, backlog, countedAt: 8 },
      [`/segments/${UUID}`]: {
        state: 'owned',
        checkpoint: 41,
        payload: Buffer.from('payload'),
        detail: { ...detail, lease: { holder: 'x', expiresAt: 1, attempts: 2 }, problem: 'p' },
      },
    });
    expect(await stores.staging.readPipeline(signal)).toEqual({
      ...{ lease, completed: 41, lastCompletedAt: 7, backlog, rests: NO_AMOUNT, countedAt: 8, marks: [] },
    });
    const [found] = await stores.committing.readSegments([UUID], signal);
    expect(found).toMatchObject({ head: { id: UUID, number: 0, ...detail }, payload: Buffer.from('payload') });
  });

  test('stay readable to its functions: a commit of ours keeps the names of its fields, and what others wrote', async () => {
    const value = pipelineOf('us', { completed: 42, committed: 40 });
    await stores.coordinator.commit({ pipeline: { version: undefined, value } }, signal);
    await write({ '': { fingerprint: { markerFamily: 'm' }, lastCheckpoint: 43 } });
    const read = await stores.coordinator.readPipeline(signal);
    expect(read?.value.completed).toBe(43);
    const next = { version: read?.version, value: { ...read!.value, countedAt: 5 } };
    expect(await stores.coordinator.commit({ pipeline: next }, signal)).toBe('committed');
    expect((await stores.coordinator.readPipeline(signal))?.value).toMatchObject({ completed: 43, committed: 40 });
  });
});

test('a large segment is invisible until it is whole, and its parts are marked as orphans until then', async () => {
  const partsAndHead = { method: 'Commit', fromCall: 3 } as const;
  firestore.faults.add({
    ...partsAndHead,
    effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
  });
  await expect(stores.staging.stage([segment(LARGE, 2_000_000)], signal)).rejects.toThrow(StoreError);
  expect(await idsStaged()).toEqual([]);
  await stores.staging.stage([segment(LARGE, 2_000_000)], signal);
  expect(await idsStaged()).toEqual([LARGE]);
});

test.each([
  ['PERMISSION_DENIED', false],
  ['INTERNAL', true],
] as const)('%s is told with the operation and what to do', async (code, isTransient) => {
  refuse('Commit', code);
  const error: unknown = await stores.staging.stage([segment(A)], signal).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ status: code, isTransient, operation: 'store a segment' });
});

test('a wait ends with the signal, whatever the client still tries', async () => {
  refuse('Commit', 'UNAVAILABLE');
  const ending = new AbortController();
  const waiting = stores.staging.stage([segment(A)], ending.signal);
  ending.abort(new Error('the time is used up'));
  await expect(waiting).rejects.toThrow('the time is used up');
});

test('documents of another maker are refused with their path, never misread', async () => {
  const { Firestore } = await import('@google-cloud/firestore');
  const client = await withEnvironment({ FIRESTORE_EMULATOR_HOST: firestore.address }, () =>
    Promise.resolve(new Firestore({ projectId: 'p', databaseId: 'connector' })),
  );
  try {
    await client.doc('pipelines/strange').set({ lease: 'mine' });
  } finally {
    await client.terminate();
  }
  await expect(database.stage('strange').coordinator.readPipeline(signal)).rejects.toThrow(
    /^could not read pipelines\/strange in Firestore: DATA_LOSS: lease must be a map/,
  );
});
