import { Firestore } from '@google-cloud/firestore';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LocalFirestore, startFirestoreServer } from '../../../../infra/local/servers/firestore/server.ts';
import { createDatabase, type Database, type ScanViews } from '../../../../shared/google/firestore/database.ts';
import { StoreError } from '../../../../shared/model/store.ts';
import { waitingSplit } from '../../../../shared/scan/runs/split-updates.ts';
import { cancelRun, startRun } from '../../../../shared/scan/runs/start-run.ts';
import { openSlot } from '../../../../shared/slots/open-slot.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { withEnvironment } from '../../../support/environment.ts';
import { testRuntime } from '../../../support/runtime.ts';

/** What only Firestore does with the documents of a scan. What every store does is in test/contract. */
let firestore: LocalFirestore;
let database: Database;
let raw: Firestore;
let views: ScanViews;
let pipeline: string;
let pipelines = 0;
const { signal } = new AbortController();
const access = () => ({ store: views.runs, clock: systemClock });
const start = (id: string) => startRun({ id, options: () => '{}', concurrentRuns: 'refuse' }, access(), signal);

beforeAll(async () => {
  firestore = await startFirestoreServer();
  database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: firestore.address }, async () => {
    raw = new Firestore({ databaseId: 'connector', projectId: 'p' });
    await raw.collection('any').limit(1).get();
    await database.scan('first').runs.readPipeline(signal);
  });
});

beforeEach(() => {
  views = database.scan((pipeline = `pipeline-${(pipelines += 1)}`));
});

afterEach(() => {
  firestore.faults.clear();
});

afterAll(async () => {
  await database.close();
  await raw.terminate();
  await firestore.close();
});

const refused = async (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

describe('a document of a newer format', () => {
  test.each([
    ['of a pipeline', '', { format: 2 }, () => views.runs.readPipeline(signal)],
    ['of a run', '/runs/r1', { head: { format: 2 }, open: true }, () => views.slots.readOpenRuns(signal)],
    ['of a slot', '/slots/0', { state: { format: 2 } }, () => views.slots.readSlot(0, signal)],
    [
      'of a split',
      '/runs/r1/splits/p-0',
      { turn: 'p/000000000000001/000000000', detail: { format: 2 } },
      () => views.slots.readWaiting('r1', { id: 'p', splits: 1 }, 10, 10, signal),
    ],
  ])('%s is refused with what to do, and not tried again', async (_, path, fields, read) => {
    await raw.doc(`pipelines/${pipeline}${path}`).set(fields);
    const error = await refused(read());
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ isTransient: false, status: 'DATA_LOSS' });
    expect(String(error)).toContain('format 2 by a later version of the connector');
  });
});

test('a document that nothing of this connector wrote is refused by its field', async () => {
  await raw.doc(`pipelines/${pipeline}`).set({ format: 1, kind: 'staged-sink' });
  expect(String(await refused(views.runs.readPipeline(signal)))).toContain('kind must be "scan-source"');
  await raw
    .doc(`pipelines/${pipeline}/slots/0`)
    .set({ state: { format: 1, owner: 7, epoch: 1, attempt: 1, units: {} } });
  expect(String(await refused(views.slots.readSlot(0, signal)))).toContain('owner must be a text');
});

const loseAnswer = (): void => {
  const status = { code: 'UNAVAILABLE', message: 'injected' } as const;
  firestore.faults.add({ method: 'Commit', effect: { kind: 'lose-answer', status } });
};

describe('an answer that was lost, after which the client repeats the commit by itself', () => {
  test('to a start is one run', async () => {
    loseAnswer();
    expect((await start('r1')).kind).toBe('known');
    expect(await views.runs.listRuns(10, signal)).toHaveLength(1);
  });

  test('to a tick is a commit, not a conflict with itself', async () => {
    await start('r1');
    const read = await views.coordinator.readPipeline(signal);
    loseAnswer();
    const value = { ...read!.value, commits: read!.value.commits + 1 };
    expect(await views.coordinator.commit({ pipeline: { version: read!.version, value } }, signal)).toBe('committed');
  });

  test('to a cancellation is a run that is cancelled', async () => {
    await start('r1');
    loseAnswer();
    expect((await cancelRun('r1', access(), signal)).kind).toBe('cancelled');
  });

  test('to the taking and to a write of a slot is found by reading it back', async () => {
    const dependencies = { store: views.slots, giveBack: waitingSplit, runtime: testRuntime({ clock: systemClock }) };
    loseAnswer();
    const opened = await openSlot(0, 'me', dependencies, signal);
    if (opened.kind === 'held') throw new Error('held');
    loseAnswer();
    expect(await opened.session.update({ edit: (units) => ({ units, changes: [] }) })).toBe('written');
    expect(opened.session.lost.aborted).toBe(false);
    await opened.session.release();
    expect((await views.slots.readSlot(0, signal))?.value).toMatchObject({ owner: '', epoch: 1, units: {} });
  });
});

test('a run whose options are large costs a look nothing but its head', async () => {
  const options = (): string => 'x'.repeat(900 * 1024);
  await startRun({ id: 'r1', options, concurrentRuns: 'refuse' }, access(), signal);
  const [open] = await views.slots.readOpenRuns(signal);
  expect(JSON.stringify(open).length).toBeLessThan(1000);
  expect(await views.slots.readOptions('r1', signal)).toHaveLength(900 * 1024);
});

test('an idle slot costs a read an attempt, and its coordinator one a tick', async () => {
  const before = firestore.billed();
  await views.slots.readOpenRuns(signal);
  expect(firestore.billed().reads - before.reads).toBe(1);
});
