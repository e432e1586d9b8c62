import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { blank, unary } from '../../../../../infra/local/cloud/unary.ts';
import { startBigtableServer, type LocalBigtable } from '../../../../../infra/local/servers/bigtable/server.ts';
import { DropRowRangeRequest } from '../../../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { Table_View } from '../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import {
  addFamily,
  aggregate,
  aggregateFamily,
  checkAndMutate,
  code,
  connect,
  createTable,
  deleteColumn,
  entry,
  increment,
  INSTANCE,
  mutateRow,
  mutateRows,
  outcome,
  type RawClient,
  readModifyWrite,
  readRows,
  routeTo,
  setCell,
} from '../../../../support/bigtable-raw-client.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const DELAY = 5000;

let clock: ManualClock;
let bigtable: LocalBigtable;
let client: RawClient;
let table: string;

beforeEach(async () => {
  clock = new ManualClock();
  bigtable = await startBigtableServer({
    clock,
    clusters: ['c1', 'c2'],
    replicationDelayMillis: DELAY,
    profiles: {
      one: { singleCluster: true, transactional: true, cluster: 'c1' },
      two: { singleCluster: true, transactional: true, cluster: 'c2' },
      any: { singleCluster: false, transactional: false },
    },
  });
  client = connect(bigtable.address);
  table = await createTable(client, 't', { f: {}, sums: aggregateFamily('sum'), most: aggregateFamily('max') });
});

afterEach(async () => {
  client.close();
  await bigtable.close();
});

const cellsIn = async (appProfileId: string): Promise<readonly string[]> =>
  (await readRows(client, table, { appProfileId })).flatMap(({ key, cells }) => cells.map((cell) => `${key}/${cell}`));

const write = (profile: string, key: string, ...mutations: Parameters<typeof entry>[1][]): Promise<unknown> =>
  mutateRows(client, table, [entry(key, ...mutations)], { profile });

const int = (value: bigint): { $case: 'intValue'; value: bigint } => ({ $case: 'intValue', value });

/** The values of aggregates, in the order of rows. */
const sumsIn = async (profile: string): Promise<readonly bigint[]> =>
  (await cellsIn(profile))
    .filter((cell) => !cell.includes('/f:'))
    .map((cell) => Buffer.from(cell.slice(cell.indexOf('=') + 1), 'latin1').readBigInt64BE());

describe('a change', () => {
  test('is in the cluster that its profile routes to, and in the other one after the delay', async () => {
    await write('one', 'a', setCell('f', 'q', 'v'));
    expect(await cellsIn('one')).toEqual(['a/f:q@1000=v']);
    await clock.advance(DELAY - 1);
    expect(await cellsIn('two')).toEqual([]);
    await clock.advance(1);
    expect(await cellsIn('two')).toEqual(['a/f:q@1000=v']);
    expect(clock.pending).toBe(0);
  });

  test('of every kind arrives as what it did, with the time at which it was made', async () => {
    const now = `${BigInt(clock.now()) * 1000n}`;
    await mutateRow(client, {
      tableName: table,
      appProfileId: 'one',
      rowKey: Buffer.from('a'),
      mutations: [setCell('f', 'now', 'v', -1n), setCell('f', 'gone', 'v'), deleteColumn('f', 'gone')],
    });
    await checkAndMutate(client, {
      tableName: table,
      appProfileId: 'one',
      rowKey: Buffer.from('a'),
      trueMutations: [setCell('f', 'there', 'v')],
      falseMutations: [setCell('f', 'not-there', 'v')],
    });
    await readModifyWrite(client, {
      tableName: table,
      appProfileId: 'one',
      rowKey: Buffer.from('b'),
      rules: [increment('f', 'n', 1n)],
    });
    const made = await cellsIn('one');
    expect(made).toHaveLength(3);
    expect(made).toContain(`a/f:now@${now}=v`);
    await clock.advance(DELAY);
    expect(await cellsIn('two')).toEqual(made);
  });

  test('of a cell that both clusters write is decided by its time, and both come to the same', async () => {
    await write('one', 'a', setCell('f', 'q', 'first'));
    await clock.advance(1000);
    await write('two', 'a', setCell('f', 'q', 'last'));
    await write('two', 'b', setCell('f', 'q', 'first'));
    await write('one', 'b', deleteColumn('f', 'q'));
    await clock.advance(2 * DELAY);
    expect(await cellsIn('one')).toEqual(['a/f:q@1000=last']);
    expect(await cellsIn('two')).toEqual(['a/f:q@1000=last']);
  });

  test('of an aggregate that both clusters add to is added in both, once', async () => {
    await write('one', 'a', aggregate('addToCell', 'sums', int(1n)));
    await write('two', 'a', aggregate('addToCell', 'sums', int(10n)), setCell('f', 'q', 'v'));
    await write('one', 'b', aggregate('addToCell', 'most', int(7n)));
    await write('two', 'b', aggregate('addToCell', 'most', int(5n)));
    await clock.advance(DELAY);
    const cells = await cellsIn('one');
    expect(cells).toHaveLength(3);
    expect(await cellsIn('two')).toEqual(cells);
    expect(await sumsIn('one')).toEqual([11n, 7n]);
  });

  test('that is repeated under its idempotency token is added once, in both', async () => {
    const start = { seconds: BigInt(Math.floor(clock.now() / 1000)), nanos: 0 };
    const idempotency = { token: Buffer.from('token-of-8-bytes'), startTime: start };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const once = { ...entry('a', aggregate('addToCell', 'sums', int(1n))), idempotency };
      await mutateRows(client, table, [once], { profile: 'one' });
    }
    await clock.advance(DELAY);
    expect(await sumsIn('one')).toEqual([1n]);
    expect(await sumsIn('two')).toEqual([1n]);
  });

  test('asks only its own cluster what is there', async () => {
    const guarded = {
      tableName: table,
      rowKey: Buffer.from('a'),
      falseMutations: [aggregate('addToCell', 'sums', int(1n))],
    };
    expect(await checkAndMutate(client, { ...guarded, appProfileId: 'one' })).toBe(false);
    expect(await checkAndMutate(client, { ...guarded, appProfileId: 'one' })).toBe(true);
    expect(await checkAndMutate(client, { ...guarded, appProfileId: 'two' })).toBe(false);
    await clock.advance(DELAY);
    expect(await sumsIn('one')).toEqual([2n]);
    expect(await sumsIn('two')).toEqual([2n]);
  });
});

test('a schema is that of all clusters at once, and a drop of rows takes what is on its way with it', async () => {
  await write('one', 'a', setCell('f', 'q', 'v'));
  await addFamily(client, table, 'g');
  await write('two', 'a', setCell('g', 'q', 'v'));
  const all = {
    ...blank(DropRowRangeRequest),
    name: table,
    target: { $case: 'deleteAllDataFromTable', value: true } as const,
  };
  await unary(client.admin.dropRowRange.bind(client.admin), all);
  await clock.advance(DELAY);
  expect(await cellsIn('one')).toEqual([]);
  expect(await cellsIn('two')).toEqual([]);
});

test('a table is consistent once what was written before its token is in all clusters', async () => {
  await write('one', 'a', setCell('f', 'q', 'v'));
  const { consistencyToken } = await unary(client.admin.generateConsistencyToken.bind(client.admin), { name: table });
  const isConsistent = async (): Promise<boolean> => {
    const request = { name: table, consistencyToken, mode: undefined };
    return (await unary(client.admin.checkConsistency.bind(client.admin), request)).consistent;
  };
  expect(await isConsistent()).toBe(false);
  await clock.advance(DELAY - 1);
  await write('two', 'b', setCell('f', 'q', 'v'));
  await clock.advance(1);
  expect(await isConsistent()).toBe(true);
});

test('a table tells all clusters that it lies in', async () => {
  const request = { name: table, view: Table_View.REPLICATION_VIEW };
  const { clusterStates } = await unary(client.admin.getTable.bind(client.admin), request);
  expect(Object.keys(clusterStates)).toEqual(['c1', 'c2']);
});

test('a server that is closed leaves no change on its way', async () => {
  await write('one', 'a', setCell('f', 'q', 'v'));
  expect(clock.pending).toBe(1);
  await bigtable.close();
  expect(clock.pending).toBe(0);
});

describe('a profile', () => {
  test('that names no cluster, the default one and one of any cluster route to the first', async () => {
    await write('', 'a', setCell('f', 'q', 'v'));
    await write('any', 'b', setCell('f', 'q', 'v'));
    expect(await cellsIn('one')).toHaveLength(2);
    expect(await cellsIn('two')).toHaveLength(0);
  });

  test('that is updated routes to another cluster, in its own instance only', async () => {
    await write('one', 'a', setCell('f', 'q', 'v'));
    await routeTo(client, 'one', 'c2');
    expect(await cellsIn('one')).toEqual([]);
    await write('one', 'a', setCell('f', 'q', 'in c2'));
    expect(await cellsIn('two')).toEqual(['a/f:q@1000=in c2']);
    const read = async (instance: string): Promise<unknown> =>
      (await unary(client.instance.getAppProfile.bind(client.instance), { name: `${instance}/appProfiles/one` }))
        .routingPolicy;
    expect(await read(INSTANCE)).toMatchObject({
      $case: 'singleClusterRouting',
      value: { clusterId: 'c2', allowTransactionalWrites: true },
    });
    expect(await read('projects/p/instances/other')).toMatchObject({ value: { clusterId: 'c1' } });
  });

  test('may lose its transactions, or its one cluster', async () => {
    const request = {
      tableName: table,
      appProfileId: 'one',
      rowKey: Buffer.from('a'),
      rules: [increment('f', 'n', 1n)],
    };
    await routeTo(client, 'one', 'c1', { allowTransactionalWrites: false });
    expect(await code(readModifyWrite(client, request))).toBe('FAILED_PRECONDITION');
    await routeTo(client, 'one', undefined);
    expect(await code(readModifyWrite(client, request))).toBe('FAILED_PRECONDITION');
    await write('one', 'a', setCell('f', 'q', 'v'));
    await routeTo(client, 'one', 'c1');
    expect(await code(readModifyWrite(client, request))).toBe('OK');
  });

  test('or a cluster that does not exist is not found, and a field that is not kept is refused', async () => {
    expect(await outcome(routeTo(client, 'none', 'c1'))).toBe('NOT_FOUND: App profile not found: none');
    expect(await outcome(routeTo(client, 'one', 'c3'))).toBe('NOT_FOUND: Cluster not found: c3');
    expect(await outcome(routeTo(client, 'one', 'c2', { updateMask: ['priority'] }))).toContain("names 'priority'");
    await write('one', 'a', setCell('f', 'q', 'v'));
    expect(await cellsIn('two')).toEqual([]);
    await expect(
      startBigtableServer({ profiles: { lost: { singleCluster: true, transactional: true, cluster: 'c9' } } }),
    ).rejects.toThrow('Cluster not found: c9');
  });
});
