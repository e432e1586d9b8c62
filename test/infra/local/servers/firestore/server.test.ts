import { AggregateField, Firestore } from '@google-cloud/firestore';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFirestoreServer, type LocalFirestore } from '../../../../../infra/local/servers/firestore/server.ts';
import { TRANSACTION_IDLE_MILLIS } from '../../../../../infra/local/servers/firestore/writes/transactions.ts';
import { type ClientOf } from '../../../../../infra/local/servers/rpc/client.ts';
import type { Status } from '../../../../../shared/model/status.ts';
import type { FirestoreDefinition } from '../../../../../shared/proto/google/firestore/v1/firestore.ts';
import {
  batchGet,
  begin,
  code,
  commit,
  connect,
  inTransaction,
  integer,
  ROOT,
  set,
} from '../../../../support/firestore-raw-client.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

let clock: ManualClock;
let server: LocalFirestore;
let client: Firestore;
let raw: ClientOf<FirestoreDefinition>;

beforeEach(async () => {
  clock = new ManualClock();
  server = await startFirestoreServer({ clock, requestLimitBytes: 4 * 1024 * 1024 });
  client = new Firestore({ projectId: 'p', host: server.address, ssl: false });
  raw = connect(server.address);
});

afterEach(async () => {
  raw.close();
  await client.terminate();
  await server.close();
});

const UNAVAILABLE: Status = { code: 'UNAVAILABLE', message: 'try again' };
const nameOf = (id: string): string => `${ROOT}/c/${id}`;
const write = (id: string, n = 1n) => commit(raw, [set(nameOf(id), { n: integer(n) })]);
const ids = async (): Promise<string[]> => (await client.collection('c').get()).docs.map(({ id }) => id);

/** Waits until the server holds as many calls of the method as said; they are counted when they arrive. */
async function arrived(method: 'Commit', calls: number): Promise<void> {
  while ((server.requestCounts()[method] ?? 0) < calls) await new Promise((resolve) => setImmediate(resolve));
}

describe('faults', () => {
  test('a refusal comes before anything is applied, once', async () => {
    const handle = server.faults.add({ method: 'Commit', effect: { kind: 'refuse', status: UNAVAILABLE } });
    expect([await code(write('a')), await ids()]).toEqual(['UNAVAILABLE', []]);
    expect([await code(write('a')), await ids(), handle.hits]).toEqual(['OK', ['a'], 1]);
  });

  test('a lost answer was applied', async () => {
    server.faults.add({ method: 'Commit', effect: { kind: 'lose-answer', status: UNAVAILABLE } });
    expect([await code(write('a')), await ids()]).toEqual(['UNAVAILABLE', ['a']]);
  });

  test('a delayed call is served when its time has come', async () => {
    server.faults.add({ method: 'Commit', effect: { kind: 'delay', delayMillis: 5000 } });
    const answer = write('a');
    await arrived('Commit', 1);
    await clock.advance(4999);
    expect(await ids()).toEqual([]);
    await clock.advance(1);
    await answer;
    expect(await ids()).toEqual(['a']);
  });

  test.each([
    { isApplied: false, stored: [] },
    { isApplied: true, stored: ['a'] },
  ])(
    'a call that is never answered ends when the server closes; applied: $isApplied',
    async ({ isApplied, stored }) => {
      server.faults.add({ method: 'Commit', effect: { kind: 'never-answer', isApplied } });
      const answer = code(write('a'));
      await arrived('Commit', 1);
      expect(await ids()).toEqual(stored);
      await server.close();
      expect(['CANCELLED', 'UNAVAILABLE', 'INTERNAL']).toContain(await answer);
    },
  );

  test('a rule meets the calls that it is for, from the one it names, as often as it says', async () => {
    const isLarge = { kind: 'refuse', status: UNAVAILABLE } as const;
    const where = ({ writes }: { readonly writes: readonly unknown[] }): boolean => writes.length === 1;
    const rule = server.faults.add({ method: 'Commit', where, fromCall: 2, times: 2, effect: isLarge });
    const two = () => commit(raw, [set(nameOf('x'), {}), set(nameOf('y'), {})]);
    const answers = [];
    for (const call of [write, two, write, two, write, write]) answers.push(await code(call('a')));
    expect(answers).toEqual(['OK', 'OK', 'UNAVAILABLE', 'OK', 'UNAVAILABLE', 'OK']);
    expect(rule.hits).toBe(2);
  });

  test('a read is refused too, and rules can be taken away', async () => {
    const effect = { kind: 'refuse', status: UNAVAILABLE } as const;
    const rule = server.faults.add({ method: 'BatchGetDocuments', times: Infinity, effect });
    expect(await code(batchGet(raw, [nameOf('a')]))).toBe('UNAVAILABLE');
    rule.remove();
    expect(await code(batchGet(raw, [nameOf('a')]))).toBe('OK');
  });
});

describe('billed operations', () => {
  test('reads count documents, missing ones too; a query at least one; an aggregation one for 1,000', async () => {
    const collection = client.collection('c');
    const batch = client.batch();
    for (let at = 0; at < 1001; at += 1) batch.set(collection.doc(`d${at}`), { n: at });
    await batch.commit();
    expect(server.billed()).toEqual({ reads: 0, writes: 1001, deletes: 0 });
    const reads = async (read: () => Promise<unknown>): Promise<number> => {
      server.resetBilled();
      await read();
      return server.billed().reads;
    };
    expect(await reads(() => client.getAll(collection.doc('d1'), collection.doc('missing')))).toBe(2);
    expect(await reads(() => collection.where('n', '<', 3).get())).toBe(3);
    expect(await reads(() => collection.offset(5).limit(2).get())).toBe(7);
    expect(await reads(() => collection.where('n', '==', -1).get())).toBe(1);
    expect(await reads(() => collection.count().get())).toBe(2);
    expect(await reads(() => collection.where('n', '==', -1).aggregate({ n: AggregateField.count() }).get())).toBe(1);
  });

  test('writes and deletes count each; a commit that is refused counts nothing', async () => {
    const collection = client.collection('c');
    await client.batch().set(collection.doc('a'), {}).set(collection.doc('b'), {}).delete(collection.doc('z')).commit();
    await expect(
      client.batch().set(collection.doc('d'), {}).create(collection.doc('a'), {}).commit(),
    ).rejects.toThrow();
    expect(server.billed()).toEqual({ reads: 0, writes: 2, deletes: 1 });
  });
});

describe('limits and time', () => {
  test('a lower limit of requests stands for the emulator', async () => {
    const large = { valueType: { $case: 'bytesValue', value: Buffer.alloc(900_000) } } as const;
    const writes = (count: number) => Array.from({ length: count }, (_, at) => set(nameOf(`l${at}`), { large }));
    expect([await code(commit(raw, writes(4))), await code(commit(raw, writes(5)))]).toEqual([
      'OK',
      'INVALID_ARGUMENT',
    ]);
  });

  test('update times grow by a microsecond at least, also while the clock stands still', async () => {
    const times: bigint[] = [];
    for (let n = 0n; n < 3n; n += 1n) times.push(BigInt((await write('a', n)).commitTime!.nanos));
    expect([times[1]! - times[0]!, times[2]! - times[1]!]).toEqual([1000n, 1000n]);
  });

  test('a write waits two seconds for a lock, and no longer', async () => {
    const transaction = await begin(raw);
    await batchGet(raw, [nameOf('a')], inTransaction(transaction));
    const answer = code(write('a'));
    await arrived('Commit', 1);
    await clock.advance(1999);
    expect(await Promise.race([answer, Promise.resolve('waits')])).toBe('waits');
    await clock.advance(1);
    expect(await answer).toBe('ABORTED');
  });

  test('a transaction that nobody uses ends after a minute, and its locks with it', async () => {
    const transaction = await begin(raw);
    await batchGet(raw, [nameOf('a')], inTransaction(transaction));
    await clock.advance(TRANSACTION_IDLE_MILLIS - 1);
    expect(server.openTransactions).toBe(1);
    await clock.advance(1);
    expect(await code(write('a'))).toBe('OK');
    expect(await code(commit(raw, [], { transaction }))).toBe('INVALID_ARGUMENT');
    expect(server.openTransactions).toBe(0);
  });

  test('what is not served says what and why', async () => {
    const same = (bytes: Buffer): Buffer => bytes;
    const listening = raw.makeBidiStreamRequest('/google.firestore.v1.Firestore/Listen', same, same);
    const failure = await new Promise<Error>((resolve) => listening.on('data', () => undefined).once('error', resolve));
    expect(failure.message).toMatch(/UNIMPLEMENTED.* does not serve Listen: it tells nobody of changes/);
  });
});
