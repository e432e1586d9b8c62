import { Bigtable, type Table } from '@google-cloud/bigtable';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { connect, createTable, type RawClient, readRows } from '../support/bigtable-raw-client.ts';

/**
 * What `Table.mutate` of the official client (@google-cloud/bigtable 7.2.0) does with answers that are not plain
 * success: the reasons why nothing here writes with it. An upgrade that changes one of them fails a test.
 */
let bigtable: LocalBigtable;
let raw: RawClient;
let client: Bigtable;
let table: Table;

beforeAll(async () => {
  bigtable = await startBigtableServer();
  raw = connect(bigtable.address);
  await createTable(raw, 't', { f: {} });
  const before = process.env.BIGTABLE_EMULATOR_HOST;
  process.env.BIGTABLE_EMULATOR_HOST = bigtable.address;
  client = new Bigtable({ projectId: 'p', metricsEnabled: false });
  if (before === undefined) delete process.env.BIGTABLE_EMULATOR_HOST;
  else process.env.BIGTABLE_EMULATOR_HOST = before;
  table = client.instance('i').table('t');
  // Its backoff between attempts is seconds long; one attempt shows the same ending.
  table.maxRetries = 0;
});

afterAll(async () => {
  await client.close();
  raw.close();
  await bigtable.close();
});

const insertion = (key: string, value: unknown = { value: 'v', timestamp: 1000 }): object => ({
  method: 'insert',
  key,
  data: { f: { q: value } },
});

const cellsOf = async (key: string): Promise<string[] | undefined> =>
  (await readRows(raw, 'projects/p/instances/i/tables/t')).find((row) => row.key === key)?.cells;

test('entries that the service never answered are reported as success', async () => {
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'cut', entries: 1, isRestApplied: false } });
  await expect(table.mutate([insertion('told'), insertion('untold')])).resolves.toBeDefined();
  expect(await cellsOf('told')).toEqual(['f:q@1000=v']);
  expect(await cellsOf('untold')).toBeUndefined();
});

test('a timestamp of 0 becomes the present', async () => {
  const before = Date.now();
  await table.mutate([insertion('zero', { value: 'v', timestamp: 0 })]);
  const [, micros] = /@(\d+)=/.exec((await cellsOf('zero'))?.[0] ?? '') ?? [];
  expect(Number(micros) / 1000).toBeGreaterThanOrEqual(before);
});

test('a bigint is written as an empty value without an error', async () => {
  await table.mutate([insertion('bigint', { value: 7n, timestamp: 1000 })]);
  expect(await cellsOf('bigint')).toEqual(['f:q@1000=']);
});

test('a failed request yields one error per entry, and none says which', async () => {
  const status = { code: 'PERMISSION_DENIED', message: 'no' } as const;
  bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'refuse', status } });
  const error: unknown = await table.mutate([insertion('a'), insertion('b')]).catch((thrown: unknown) => thrown);
  const { code, errors } = error as { code: number; errors: readonly object[] };
  expect(code).toBe(7);
  expect(errors).toHaveLength(2);
  for (const one of errors) {
    expect(one).not.toHaveProperty('entry');
    expect(one).not.toHaveProperty('index');
  }
});
