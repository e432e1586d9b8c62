import { Bigtable, type Table } from '@google-cloud/bigtable';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startBigtableServer, type LocalBigtable } from '../../../../../infra/local/servers/bigtable/server.ts';

/** Google's own client is pointed at the server by its environment variable, and by nothing else. */
let server: LocalBigtable;
let bigtable: Bigtable;
let table: Table;

beforeAll(async () => {
  server = await startBigtableServer();
  vi.stubEnv('BIGTABLE_EMULATOR_HOST', server.address);
  bigtable = new Bigtable({ projectId: 'p', metricsEnabled: false });
  table = bigtable.instance('i').table('t');
  // The client takes a split for base64.
  await table.create({
    families: [{ name: 'f', rule: { versions: 2 } }, 'g'],
    splits: [Buffer.from('m').toString('base64')],
  });
});

afterAll(async () => {
  await bigtable.close();
  await server.close();
  vi.unstubAllEnvs();
});

test('it creates tables and families and sees them', async () => {
  const [families] = await table.getFamilies();
  expect(families.map(({ id }) => id).toSorted()).toEqual(['f', 'g']);
  expect(await table.exists()).toEqual([true]);
  expect(await bigtable.instance('i').table('absent').exists()).toEqual([false]);
  const [keys] = await table.sampleRowKeys();
  expect(keys.map(({ key }) => Buffer.from(key).toString())).toEqual(['m', '']);
});

test('it inserts, reads with a filter, and reads a large value whole', async () => {
  const large = Buffer.alloc(3 * 1024 * 1024, 'z');
  await table.insert([
    { key: 'r1', data: { f: { q: { value: 'v1', timestamp: 1_000_000 } } } },
    { key: 'r2', data: { g: { blob: { value: large, timestamp: 1_000_000 } } } },
  ]);
  const [rows] = await table.getRows({ filter: [{ family: 'f' }] });
  expect(rows.map(({ id }) => id)).toEqual(['r1']);
  const [row] = await table.row('r2').get({ decode: false });
  const data = row.data as Record<string, Record<string, { value: Buffer }[]>>;
  expect(data.g?.blob?.[0]?.value.equals(large)).toBe(true);
});

test('it scans a range in order, more than one message of it', async () => {
  const value = Buffer.alloc(1024, 1);
  const entries = Array.from({ length: 1000 }, (_, index) => ({
    key: `scan-${String(index).padStart(4, '0')}`,
    data: { f: { q: { value, timestamp: 1_000_000 } } },
  }));
  await table.insert(entries);
  const seen: string[] = [];
  for await (const row of table.createReadStream({ prefix: 'scan-' })) seen.push((row as { id: string }).id);
  expect(seen).toEqual(entries.map(({ key }) => key));
});

test('it increments, appends and mutates on a condition', async () => {
  const row = table.row('counter');
  await row.increment('f:n', 5);
  const [incremented] = await row.increment('f:n', 2);
  expect(incremented).toBe(7);
  const onMatch = [{ method: 'delete' as const, data: ['f:n'] }];
  const [matched] = await row.filter([{ family: 'f' }], { onMatch });
  expect(matched).toBe(true);
  expect(await row.exists()).toEqual([false]);
});

test('it is told of an unknown family for every entry, in the words that it looks for', async () => {
  const entries = ['x1', 'x2'].map((key) => ({ key, data: { absent: { q: 'v' } } }));
  const failure = await table.insert(entries).then(
    () => undefined,
    (error: unknown) => error as { name: string; errors: { code: number; message: string }[] },
  );
  expect(failure?.name).toBe('PartialFailureError');
  expect(failure?.errors.map(({ code }) => code)).toEqual([5, 5]);
  expect(failure?.errors[0]?.message).toMatch(
    /^Error while mutating the row 'x1' \(projects\/p\/instances\/i\/tables\/t\) : Requested column family not found\.$/,
  );
});

test('it drops rows by prefix, families and the table', async () => {
  await table.deleteRows('scan-');
  const [rows] = await table.getRows({ prefix: 'scan-' });
  expect(rows).toEqual([]);
  await table.family('g').delete();
  await table.delete();
  expect(server.tables()).toEqual([]);
});
