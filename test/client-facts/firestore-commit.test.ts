import { Firestore } from '@google-cloud/firestore';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type LocalFirestore, startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import type { StatusName } from '../../shared/model/status.ts';
import { withEnvironment } from '../support/environment.ts';

/**
 * What `WriteBatch.commit` of the official client (@google-cloud/firestore 9.4.1) does with a status: it repeats some of
 * them by itself, from 100 ms on, for up to ten minutes, and cannot be told not to. So a commit whose answer was lost
 * runs into its own work, and one that nobody waits for any more may still happen. The stage store is built on that.
 */
let firestore: LocalFirestore;
let client: Firestore;

beforeAll(async () => {
  firestore = await startFirestoreServer();
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: firestore.address }, () => {
    client = new Firestore({ projectId: 'p' });
    return Promise.resolve();
  });
  // Connects, so that the counts below are those of the commits alone.
  await client.doc('warm/up').set({});
});

afterEach(() => {
  firestore.faults.clear();
});

afterAll(async () => {
  await client.terminate();
  await firestore.close();
});

const commits = (): number => firestore.requestCounts().Commit ?? 0;

const createWith = async (id: string, code: StatusName, kind: 'refuse' | 'lose-answer'): Promise<unknown> => {
  firestore.faults.add({ method: 'Commit', effect: { kind, status: { code, message: 'injected' } } });
  const batch = client.batch();
  batch.create(client.doc(`things/${id}`), { size: 1 });
  return batch.commit().then(
    () => 'done',
    (error: unknown) => (error as { code: number }).code,
  );
};

test.each(['ABORTED', 'RESOURCE_EXHAUSTED', 'UNAVAILABLE'] as const)('%s is sent again by the client', async (code) => {
  const before = commits();
  expect(await createWith(`again-${code}`, code, 'refuse')).toBe('done');
  expect(commits() - before).toBe(2);
});

test.each([
  ['DEADLINE_EXCEEDED', 4],
  ['INTERNAL', 13],
  ['FAILED_PRECONDITION', 9],
  ['NOT_FOUND', 5],
  ['PERMISSION_DENIED', 7],
] as const)('%s is told at once', async (code, number) => {
  const before = commits();
  expect(await createWith(`told-${code}`, code, 'refuse')).toBe(number);
  expect(commits() - before).toBe(1);
});

test('a creation whose answer was lost comes back as ALREADY_EXISTS, and has happened', async () => {
  expect(await createWith('lost', 'UNAVAILABLE', 'lose-answer')).toBe(6);
  expect((await client.doc('things/lost').get()).exists).toBe(true);
});

test('an update whose answer was lost comes back as FAILED_PRECONDITION, and has happened', async () => {
  const document = client.doc('things/updated');
  const { writeTime } = await document.create({ size: 1 });
  firestore.faults.add({
    method: 'Commit',
    effect: { kind: 'lose-answer', status: { code: 'UNAVAILABLE', message: 'injected' } },
  });
  await expect(document.update({ size: 2 }, { lastUpdateTime: writeTime })).rejects.toMatchObject({ code: 9 });
  expect((await document.get()).data()).toEqual({ size: 2 });
});

test('a write that changes nothing leaves the update time: a version is new only with a new value', async () => {
  const document = client.doc('things/same');
  const created = await document.create({ size: 1 });
  expect((await document.update({ size: 1 })).writeTime.isEqual(created.writeTime)).toBe(true);
  expect((await document.update({ size: 2 })).writeTime.isEqual(created.writeTime)).toBe(false);
});
