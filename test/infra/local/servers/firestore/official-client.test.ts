import { FieldValue, Firestore, Timestamp } from '@google-cloud/firestore';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFirestoreServer, type LocalFirestore } from '../../../../../infra/local/servers/firestore/server.ts';

let server: LocalFirestore;
let client: Firestore;

beforeEach(async () => {
  server = await startFirestoreServer();
  client = new Firestore({ projectId: 'p', host: server.address, ssl: false });
});

afterEach(async () => {
  await client.terminate();
  await server.close();
});

test('a document of every type comes back as it was written', async () => {
  const document = {
    nothing: null,
    yes: true,
    integer: 9_007_199_254_740_991,
    double: 1.5,
    notANumber: Number.NaN,
    time: new Timestamp(1_700_000_000, 123_456_000),
    text: 'grüß 🦑',
    bytes: Buffer.from([0, 255, 1]),
    reference: client.doc('others/one'),
    array: [1, { deep: [true] }],
    map: { 'a.b': 1, nested: { c: 'x' } },
    vector: FieldValue.vector([1, 2]),
  };
  await client.doc('things/a').set(document);
  expect((await client.doc('things/a').get()).data()).toEqual(document);
});

test('an integer beyond 2^53 keeps every digit', async () => {
  const exact = new Firestore({ projectId: 'p', host: server.address, ssl: false, useBigInt: true });
  await exact.doc('things/a').set({ big: 2n ** 63n - 1n });
  await exact.doc('things/a').update({ big: FieldValue.increment(1) });
  expect((await exact.doc('things/a').get()).get('big')).toBe(2n ** 63n - 1n);
  await exact.terminate();
});

test('named databases and subcollections keep apart', async () => {
  const other = new Firestore({ projectId: 'p', databaseId: 'other', host: server.address, ssl: false });
  await client.doc('c/a').set({ where: 'default' });
  await client.doc('c/a/sub/a').set({ where: 'sub' });
  await other.doc('c/a').set({ where: 'other' });
  const found = await Promise.all([client.doc('c/a').get(), client.doc('c/a/sub/a').get(), other.doc('c/a').get()]);
  expect(found.map((snapshot) => snapshot.get('where') as unknown)).toEqual(['default', 'sub', 'other']);
  await other.terminate();
});
