import { Metadata } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { blank, unary } from '../../../../../infra/local/cloud/unary.ts';
import { onTable, onRows } from '../../../../../infra/local/servers/bigtable/faults.ts';
import { startBigtableServer, type LocalBigtable } from '../../../../../infra/local/servers/bigtable/server.ts';
import type { Status } from '../../../../../shared/model/status.ts';
import { FeatureFlags } from '../../../../../shared/proto/google/bigtable/v2/feature_flags.ts';
import {
  code,
  connect,
  createTable,
  entry,
  mutateRow,
  mutateRows,
  outcome,
  readRows,
  setCell,
  statuses,
  type RawClient,
} from '../../../../support/bigtable-raw-client.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

let bigtable: LocalBigtable;
let client: RawClient;
let table: string;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  bigtable = await startBigtableServer({ clock });
  client = connect(bigtable.address);
  table = await createTable(client, 't', { f: {} });
});

afterEach(async () => {
  client.close();
  await bigtable.close();
});

const UNAVAILABLE: Status = { code: 'UNAVAILABLE', message: 'try again' };
const KEYS = ['a', 'b', 'c'];
const entries = KEYS.map((key) => entry(key, setCell('f', 'q', key)));
const write = (options?: Parameters<typeof mutateRows>[3]) => mutateRows(client, table, entries, options);
const keys = async (): Promise<string[]> => (await readRows(client, table)).map(({ key }) => key);

/** Waits until the server holds as many calls of the method as said; they are counted when they arrive. */
async function arrived(method: 'MutateRows' | 'MutateRow', calls: number): Promise<void> {
  while ((bigtable.requestCounts()[method] ?? 0) < calls) await new Promise((resolve) => setImmediate(resolve));
}

test('a refusal comes before anything is applied, once', async () => {
  const handle = bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'refuse', status: UNAVAILABLE } });
  expect(await outcome(write())).toBe('UNAVAILABLE: try again');
  expect(await keys()).toEqual([]);
  expect(await code(write())).toBe('OK');
  expect(handle.hits).toBe(1);
});

test('a lost answer was applied', async () => {
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'lose-answer', status: UNAVAILABLE } });
  bigtable.faults.add({ method: 'MutateRow', effect: { kind: 'lose-answer', status: UNAVAILABLE } });
  expect(await code(write())).toBe('UNAVAILABLE');
  const single = { tableName: table, rowKey: Buffer.from('d'), mutations: [setCell('f', 'q', 'd')] };
  expect(await code(mutateRow(client, single))).toBe('UNAVAILABLE');
  expect(await keys()).toEqual(['a', 'b', 'c', 'd']);
});

test('a delayed call is served when its time has come', async () => {
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'delay', delayMillis: 5000 } });
  const answer = write();
  await arrived('MutateRows', 1);
  await clock.advance(4999);
  expect(await keys()).toEqual([]);
  await clock.advance(1);
  expect(statuses(await answer)).toHaveLength(3);
});

test.each([
  { isApplied: false, rows: [] },
  { isApplied: true, rows: KEYS },
])('a call that is never answered ends with the patience of its caller; applied: $isApplied', async (variant) => {
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'never-answer', isApplied: variant.isApplied } });
  expect(await code(write({ deadlineMillis: 100 }))).toBe('DEADLINE_EXCEEDED');
  expect(await keys()).toEqual(variant.rows);
});

test.each([
  { isRestApplied: true, rows: KEYS },
  { isRestApplied: false, rows: ['a'] },
])('a cut answer leaves entries unanswered; applied all the same: $isRestApplied', async ({ isRestApplied, rows }) => {
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'cut', entries: 1, isRestApplied } });
  expect(statuses(await write())).toEqual([[0, 'OK']]);
  expect(await keys()).toEqual(rows);
});

test('a cut answer may end with a status after its first entries', async () => {
  const effect = { kind: 'cut', entries: 2, isRestApplied: false, status: UNAVAILABLE } as const;
  bigtable.faults.add({ method: 'MutateRows', effect });
  const received: [number, string][] = [];
  const request = { tableName: table, authorizedViewName: '', appProfileId: '', entries };
  const stream = client.data.mutateRows(request).on('data', (message: Parameters<typeof statuses>[0][number]) => {
    received.push(...statuses([message]));
  });
  const error = await new Promise<unknown>((resolve) => stream.on('error', resolve));
  expect(error).toMatchObject({ details: 'try again' });
  expect(received).toEqual([
    [0, 'OK'],
    [1, 'OK'],
  ]);
});

test('chosen entries are refused and not applied, the others are', async () => {
  const effect = { kind: 'entry-statuses', statuses: new Map([[1, UNAVAILABLE]]) } as const;
  bigtable.faults.add({ method: 'MutateRows', effect });
  expect(statuses(await write())).toEqual([
    [0, 'OK'],
    [1, 'UNAVAILABLE'],
    [2, 'OK'],
  ]);
  expect(await keys()).toEqual(['a', 'c']);
});

test('an answer may lack its status, or be one too many', async () => {
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'omit-status', index: 1 } });
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'stray-answer', index: 7, status: UNAVAILABLE } });
  expect(statuses(await write())).toContainEqual([1, 'none']);
  expect(statuses(await write())).toContainEqual([7, 'UNAVAILABLE']);
});

test('RateLimitInfo goes only to callers that announced it', async () => {
  const effect = { kind: 'rate-limit', periodMillis: 1500, factor: 0.7 } as const;
  bigtable.faults.add({ method: 'MutateRows', times: 2, effect });
  const [plain] = await write();
  expect(plain?.rateLimitInfo).toBeUndefined();
  const flags = FeatureFlags.encode({ ...blank(FeatureFlags), mutateRowsRateLimit2: true }).finish();
  const metadata = new Metadata();
  metadata.set('bigtable-features', Buffer.from(flags).toString('base64url'));
  const [informed] = await write({ metadata });
  expect(informed?.rateLimitInfo).toEqual({ period: { seconds: 1n, nanos: 500_000_000 }, factor: 0.7 });
});

test('a scan breaks after the rows that the fault lets through', async () => {
  await write();
  bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'cut-scan', rows: 2, status: UNAVAILABLE } });
  expect(await code(readRows(client, table))).toBe('UNAVAILABLE');
  expect(await keys()).toEqual(KEYS);
});

test('rules are asked in their order, and only calls that they match use them up', async () => {
  const other = await createTable(client, 'other', { f: {} });
  const refuse = (message: string) => ({ kind: 'refuse', status: { code: 'ABORTED', message } }) as const;
  const byTable = bigtable.faults.add({ method: 'MutateRows', where: onTable('other'), effect: refuse('table') });
  bigtable.faults.add({ method: 'MutateRows', where: onRows('x'), effect: refuse('prefix') });
  bigtable.faults.add({
    method: 'MutateRows',
    where: (request) => request.entries.length === 1,
    times: Infinity,
    effect: refuse('where'),
  });
  const one = (key: string, name = table) => outcome(mutateRows(client, name, [entry(key, setCell('f', 'q', 'v'))]));
  expect(await code(write())).toBe('OK');
  expect(await one('xy')).toBe('ABORTED: prefix');
  expect(await one('xy')).toBe('ABORTED: where');
  byTable.remove();
  expect(await one('a', other)).toBe('ABORTED: where');
  bigtable.faults.clear();
  expect(await one('a', other)).toBe('OK');
});

test('while the server stalls, calls wait; when it resumes they are served', async () => {
  bigtable.faults.stall();
  const waiting = write();
  await arrived('MutateRows', 1);
  bigtable.faults.resume();
  expect(statuses(await waiting)).toHaveLength(3);
});

test('admin calls meet faults too', async () => {
  bigtable.faults.add({ method: 'GetTable', where: onTable('t'), effect: { kind: 'refuse', status: UNAVAILABLE } });
  const get = () => code(unary(client.admin.getTable.bind(client.admin), { name: table, view: 0 }));
  expect([await get(), await get()]).toEqual(['UNAVAILABLE', 'OK']);
});

test('closing ends calls that wait forever', async () => {
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'never-answer', isApplied: false } });
  const waiting = code(write());
  await arrived('MutateRows', 1);
  await bigtable.close();
  expect(['CANCELLED', 'UNAVAILABLE', 'INTERNAL']).toContain(await waiting);
});
