import { readFileSync } from 'node:fs';
import { Firestore } from '@google-cloud/firestore';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LocalFirestore, startFirestoreServer } from '../../../../infra/local/servers/firestore/server.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { closePartition } from '../../../../shared/change-stream/ledger/close-partition.ts';
import { mergeId, partitionId } from '../../../../shared/change-stream/ledger/ids.ts';
import { endPartition, giveBackTo } from '../../../../shared/change-stream/ledger/partition-updates.ts';
import type { LedgerWrite } from '../../../../shared/change-stream/ledger/writes.ts';
import { type ChangeStreamViews, createDatabase, type Database } from '../../../../shared/google/firestore/database.ts';
import { StoreError } from '../../../../shared/model/store.ts';
import { openSlot } from '../../../../shared/slots/open-slot.ts';
import { withEnvironment } from '../../../support/environment.ts';
import { held, partition, range, token } from '../../../support/partitions.ts';
import { testRuntime } from '../../../support/runtime.ts';

/** What only Firestore does with the documents of a change stream. What every store does is in test/contract. */
let firestore: LocalFirestore;
let database: Database;
let raw: Firestore;
let views: ChangeStreamViews;
let pipeline: string;
let pipelines = 0;
const { signal } = new AbortController();

beforeAll(async () => {
  firestore = await startFirestoreServer();
  database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  await withEnvironment({ FIRESTORE_EMULATOR_HOST: firestore.address }, async () => {
    raw = new Firestore({ databaseId: 'connector', projectId: 'p' });
    await raw.collection('any').limit(1).get();
    await database.changeStream('first').slots.readSource(signal);
  });
});

beforeEach(() => {
  views = database.changeStream((pipeline = `pipeline-${(pipelines += 1)}`));
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
const source = (commits: number) => ({
  ...{ commits, status: 'reading' as const, generation: 1, options: '{}', dead: [] },
  lease: { owner: 'c', epoch: 1, expiresAt: commits },
});
const start = (changes: readonly LedgerWrite[]) =>
  views.coordinator.commit({ pipeline: { version: undefined, value: source(1) }, changes }, signal);

describe('a document of a newer format', () => {
  const newer = { format: 2 };
  test.each([
    ['of a source', '', newer, () => views.slots.readSource(signal)],
    ['of a slot', '/slots/0', { state: newer }, () => views.slots.readSlot(0, signal)],
    [
      'of a partition',
      '/partitions/p',
      { turn: '000000001/0', open: 1, detail: newer },
      () => views.slots.readWaiting(1, 1, 1, signal),
    ],
    ['of a merge', '/merges/m', { generation: 1, detail: newer }, () => views.slots.readMerges(['m'], signal)],
    [
      'of what is missing',
      '/missing/m',
      { generation: 1, detail: newer },
      () => views.coordinator.readLedger(1, signal),
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
  await raw.doc(`pipelines/${pipeline}`).set({ format: 1, kind: 'scan-source' });
  expect(String(await refused(views.slots.readSource(signal)))).toContain('kind must be "change-stream-source"');
  await raw
    .doc(`pipelines/${pipeline}/missing/m`)
    .set({ generation: 1, detail: { format: 1, range: { start: {}, end: {} }, firstObserved: 1, lowWatermark: 7 } });
  expect(String(await refused(views.coordinator.readLedger(1, signal)))).toContain('lowWatermark must be a text');
});

/** Fields that the operator's page takes out of the indexes, by collection. */
const page = readFileSync('shared/docs/change-stream-source.md', 'utf8');
const unindexed = (group: string): string[] =>
  [...page.matchAll(/^gcloud firestore indexes fields update (\S+) .*--collection-group (\S+) --disable-indexes$/gm)]
    .filter(([, , of]) => of === group)
    .map(([, field = '']) => field);

test('neither the name of a document nor an indexed field holds a key of a row or a token', async () => {
  const of = held('secret-a', 'secret-c', [token('secret-a', 'secret-c', 'secret-token')], 7n);
  const id = partitionId(1, of.range, of.position.tokens, 'start');
  const successors = [{ target: range('secret-a', 'secret-z'), token: token('secret-a', 'secret-b', 'secret-1') }];
  const close = { position: of.position, isEnd: false, successors };
  const closed = closePartition(id, of, close, new Map(), { now: 1, isBounded: false, keptMillis: 1 });
  if (closed.kind !== 'done') throw new Error(closed.kind);
  await start([{ kind: 'new-partition', partition: partition('waits', { ...of, problem: 'secret' }) }]);
  await views.slots.commit(
    {
      slot: 0,
      version: undefined,
      value: { owner: 'me', epoch: 1, attempt: 1, units: { [id]: of } },
      changes: closed.writes,
    },
    signal,
  );
  let documents = 0;
  for (const collection of ['partitions', 'merges', 'missing', 'slots', 'topology']) {
    for (const { id: name, ...snapshot } of (
      await raw.collection(`pipelines/${pipeline}/${collection}`).get()
    ).docs.map((each) => ({ id: each.id, data: each.data() }))) {
      documents += 1;
      const indexed = Object.fromEntries(
        Object.entries(snapshot.data).filter(([field]) => !unindexed(collection).includes(field)),
      );
      expect(`${name} ${JSON.stringify(indexed)}`).not.toContain('secret');
      expect(JSON.stringify(indexed)).not.toContain(Buffer.from('secret').toString('base64').slice(0, 8));
    }
  }
  expect(documents).toBe(6);
});

const loseAnswer = (): void => {
  const status = { code: 'UNAVAILABLE', message: 'injected' } as const;
  firestore.faults.add({ method: 'Commit', effect: { kind: 'lose-answer', status } });
};

describe('an answer that was lost, after which the client repeats the commit by itself', () => {
  test('to a tick is a commit, not a conflict with itself, and happened once', async () => {
    loseAnswer();
    expect(await start([{ kind: 'topology-moved-from', version: undefined }])).toBe('committed');
    expect((await views.coordinator.readTopology(signal)).number).toBe(1);
  });

  test('to the end of a partition is found by reading the slot back, and moves the topology once', async () => {
    const dependencies = { store: views.slots, giveBack: giveBackTo(), runtime: testRuntime({ clock: systemClock }) };
    const opened = await openSlot(0, 'me', dependencies, signal);
    if (opened.kind === 'held') throw new Error('held');
    loseAnswer();
    const changes: LedgerWrite[] = [
      { kind: 'new-partition', partition: partition('child', held('a', 'b')) },
      { kind: 'topology-moved' },
    ];
    expect(await opened.session.update({ isClaim: true, edit: (units) => ({ units, changes }) })).toBe('written');
    await opened.session.release();
    expect((await views.coordinator.readTopology(signal)).number).toBe(1);
  });
});

test('two parents of one child that end at once in one slot do not hinder each other: the second decides again, and makes the child', async () => {
  const dependencies = { store: views.slots, giveBack: giveBackTo(), runtime: testRuntime({ clock: systemClock }) };
  const opened = await openSlot(0, 'me', dependencies, signal);
  if (opened.kind === 'held') throw new Error('held');
  const { session } = opened;
  const units = { left: held('', 'm'), right: held('m', '') };
  await session.update({ edit: () => ({ units, changes: [] }) });
  const target = range('', '');
  const end = async (id: 'left' | 'right', merges: Parameters<typeof endPartition>[2]) => {
    const close = {
      position: units[id].position,
      isEnd: false,
      successors: [{ target, token: { range: units[id].range, token: id } }],
    };
    return session.update(endPartition(id, close, merges, { now: 1, isBounded: false, keptMillis: 1 }));
  };
  expect(await Promise.all([end('left', new Map()), end('right', new Map())])).toEqual(['written', 'conflict']);
  expect(await end('right', await views.slots.readMerges([mergeId(1, target)], signal))).toBe('written');
  const { partitions, merges } = await views.coordinator.readLedger(1, signal);
  expect(merges).toEqual([]);
  expect(partitions.map(({ value }) => value.position.tokens.map(({ token: text }) => text))).toEqual([
    ['left', 'right'],
  ]);
  await session.release();
});
