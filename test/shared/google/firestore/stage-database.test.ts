import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LocalFirestore, startFirestoreServer } from '../../../../infra/local/servers/firestore/server.ts';
import {
  createStageDatabase,
  type PipelineStores,
  type StageDatabase,
} from '../../../../shared/google/firestore/stage-database.ts';
import type { StatusName } from '../../../../shared/model/status.ts';
import type { NewSegment } from '../../../../shared/staged/ports.ts';
import type { PipelineState } from '../../../../shared/staged/state.ts';
import { StoreError } from '../../../../shared/model/store.ts';
import { withEnvironment } from '../../../support/environment.ts';

/** What only Firestore does: answers that are lost, statuses, waits. What every store does is in test/contract. */
let firestore: LocalFirestore;
let database: StageDatabase;
let stores: PipelineStores;
let pipelines = 0;
const { signal } = new AbortController();

beforeAll(async () => {
  firestore = await startFirestoreServer();
  database = createStageDatabase({ databaseId: 'connector', projectId: 'p' });
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: firestore.address }, async () => {
    await database.stores('first').staging.readPipeline(signal);
  });
});

beforeEach(() => {
  stores = database.stores(`pipeline-${(pipelines += 1)}`);
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
  payload: Buffer.alloc(bytes, id),
  stagedAt: Date.UTC(2026, 0, 1),
});

const pipelineOf = (owner: string, change: Partial<PipelineState> = {}): PipelineState => ({
  lease: { owner, epoch: 1, expiresAt: 1 },
  lastCheckpoint: 0,
  lastCompletedAt: 0,
  backlog: { segments: 0, envelopes: 0, bytes: 0 },
  countedAt: 1,
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

const idsStaged = async (): Promise<string[]> =>
  (await stores.coordinator.readStaged(100, signal)).map(({ value }) => value.id).toSorted();

describe('an answer that was lost', () => {
  test('to staging is success: the segments are there', async () => {
    loseAnswer();
    await stores.staging.stage([segment('a'), segment('b')], signal);
    expect(await idsStaged()).toEqual(['a', 'b']);
  });

  test('to staging a part of a large segment is success', async () => {
    loseAnswer();
    await stores.staging.stage([segment('large', 2_000_000)], signal);
    const [read] = await stores.committing.readSegments(['large'], signal);
    expect(read?.payload.equals(segment('large', 2_000_000).payload)).toBe(true);
  });

  test("to the coordinator's commit is a commit, not a conflict with itself", async () => {
    await stores.staging.stage([segment('a')], signal);
    const [staged] = await stores.coordinator.readStaged(1, signal);
    loseAnswer();
    const lease = { holder: '', expiresAt: 5, attempts: 0 };
    const result = await stores.coordinator.commit(
      {
        pipeline: { version: undefined, value: pipelineOf('us') },
        changes: { own: [{ id: 'a', version: staged!.version, checkpoint: 1, lease }] },
      },
      signal,
    );
    expect(result).toBe('committed');
    const before = await stores.coordinator.readPipeline(signal);
    loseAnswer();
    const next = { version: before?.version, value: pipelineOf('us', { countedAt: 2 }) };
    expect(await stores.coordinator.commit({ pipeline: next }, signal)).toBe('committed');
    // The version that was read has passed, so the same commit by anybody else conflicts.
    const other = { version: before?.version, value: pipelineOf('them', { countedAt: 2 }) };
    expect(await stores.coordinator.commit({ pipeline: other }, signal)).toBe('conflict');
  });

  test('to a lease is the lease, with the version that it has now', async () => {
    await stores.staging.stage([segment('a')], signal);
    const [staged] = await stores.coordinator.readStaged(1, signal);
    const lease = { holder: 'us', expiresAt: 5, attempts: 0 };
    loseAnswer();
    const [version] = (await stores.committing.lease([{ id: 'a', version: staged!.version, lease }], signal)) ?? [];
    const renewed = await stores.committing.lease(
      [{ id: 'a', version: version!, lease: { ...lease, expiresAt: 9 } }],
      signal,
    );
    expect(renewed).toHaveLength(1);
  });
});

test('a large segment is invisible until it is whole, and its parts are marked as orphans until then', async () => {
  const partsAndHead = { method: 'Commit', fromCall: 3 } as const;
  firestore.faults.add({
    ...partsAndHead,
    effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
  });
  await expect(stores.staging.stage([segment('large', 2_000_000)], signal)).rejects.toThrow(StoreError);
  expect(await idsStaged()).toEqual([]);
  await stores.staging.stage([segment('large', 2_000_000)], signal);
  expect(await idsStaged()).toEqual(['large']);
});

test.each([
  ['PERMISSION_DENIED', false],
  ['INTERNAL', true],
] as const)('%s is told with the operation and what to do', async (code, isTransient) => {
  refuse('Commit', code);
  const error: unknown = await stores.staging.stage([segment('a')], signal).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ status: code, isTransient, operation: 'store a segment' });
});

test('a wait ends with the signal, whatever the client still tries', async () => {
  refuse('Commit', 'UNAVAILABLE');
  const ending = new AbortController();
  const waiting = stores.staging.stage([segment('a')], ending.signal);
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
  await expect(database.stores('strange').coordinator.readPipeline(signal)).rejects.toThrow(
    /^could not read pipelines\/strange in Firestore: DATA_LOSS: lease must be a map/,
  );
});
