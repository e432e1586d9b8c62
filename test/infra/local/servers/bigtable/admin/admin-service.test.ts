import { afterAll, beforeAll, expect, test } from 'vitest';
import { blank, unary } from '../../../../../../infra/local/cloud/unary.ts';
import { startBigtableServer, type LocalBigtable } from '../../../../../../infra/local/servers/bigtable/server.ts';
import { ListTablesRequest } from '../../../../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { Table, Table_View, type ColumnFamily } from '../../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import {
  addFamily,
  aggregateFamily,
  code,
  connect,
  createTable,
  entry,
  mutateRows,
  readRows,
  setCell,
  type RawClient,
} from '../../../../../support/bigtable-raw-client.ts';
import { expectFields } from '../../../../../support/known-fields.ts';

let bigtable: LocalBigtable;
let client: RawClient;

beforeAll(async () => {
  bigtable = await startBigtableServer();
  client = connect(bigtable.address);
});

afterAll(async () => {
  client.close();
  await bigtable.close();
});

const getTable = (name: string, view: Table_View) => unary(client.admin.getTable.bind(client.admin), { name, view });
const modify = (
  name: string,
  id: string,
  mod: 'update' | 'drop',
  family: Partial<ColumnFamily>,
  mask: string[] = [],
) => {
  const value = { gcRule: undefined, valueType: undefined, ...family };
  return unary(client.admin.modifyColumnFamilies.bind(client.admin), {
    name,
    modifications: [
      { id, mod: mod === 'drop' ? { $case: mod, value: true } : { $case: mod, value }, updateMask: mask },
    ],
    ignoreWarnings: false,
  });
};

test('a view shows what it is named for', async () => {
  const name = await createTable(client, 'views', { f: { gcRule: { rule: { $case: 'maxNumVersions', value: 3 } } } });
  const families = { f: { gcRule: { rule: { $case: 'maxNumVersions', value: 3 } }, valueType: undefined } };
  expectFields((await getTable(name, Table_View.VIEW_UNSPECIFIED)).columnFamilies, families);
  expectFields((await getTable(name, Table_View.FULL)).columnFamilies, families);
  expect(await getTable(name, Table_View.NAME_ONLY)).toEqual({ ...blank(Table), name });
  const { clusterStates } = await getTable(name, Table_View.REPLICATION_VIEW);
  expect(Object.keys(clusterStates)).toHaveLength(1);
});

test('an aggregate family is shown with the type of its state', async () => {
  const name = await createTable(client, 'types', { sum: aggregateFamily('sum') });
  const { sum } = (await getTable(name, Table_View.SCHEMA_VIEW)).columnFamilies;
  const type = sum?.valueType?.kind;
  expect(type?.$case === 'aggregateType' && type.value.stateType?.kind?.$case).toBe('int64Type');
});

test('the value type of a family is immutable, its rule is not', async () => {
  const name = await createTable(client, 'immutable', { sum: aggregateFamily('sum') });
  expect(await code(modify(name, 'sum', 'update', aggregateFamily('max'), ['value_type']))).toBe('INVALID_ARGUMENT');
  expect(await code(modify(name, 'sum', 'update', aggregateFamily('sum'), ['value_type']))).toBe('OK');
  const updated = await modify(name, 'sum', 'update', { gcRule: { rule: { $case: 'maxNumVersions', value: 1 } } });
  expectFields(updated.columnFamilies.sum?.gcRule, { rule: { $case: 'maxNumVersions', value: 1 } });
  expect(updated.columnFamilies.sum?.valueType).toBeDefined();
});

test.each([
  ['a family name with a space', { 'f f': {} }],
  ['no versions', { f: { gcRule: { rule: { $case: 'maxNumVersions' as const, value: 0 } } } }],
  [
    'an age under a millisecond',
    { f: { gcRule: { rule: { $case: 'maxAge' as const, value: { seconds: 0n, nanos: 999 } } } } },
  ],
  [
    'a sum over strings',
    { f: aggregateFamily('sum', { kind: { $case: 'stringType', value: { encoding: undefined } } }) },
  ],
])('a table with %s is refused', async (_name, families) => {
  expect(await code(createTable(client, 'refused', families))).toBe('INVALID_ARGUMENT');
});

test('dropping a family deletes its cells, and rows that had no others', async () => {
  const name = await createTable(client, 'dropped', { f: {}, g: {} });
  await mutateRows(client, name, [
    entry('both', setCell('f', 'q', 'v'), setCell('g', 'q', 'v')),
    entry('only', setCell('g', 'q', 'v')),
  ]);
  await modify(name, 'g', 'drop', {});
  await addFamily(client, name, 'g');
  expect(await readRows(client, name)).toEqual([{ key: 'both', cells: ['f:q@1000=v'] }]);
});

test('tables are listed by name, a page at a time, of one instance', async () => {
  const parent = 'projects/p/instances/listed';
  for (const tableId of ['b', 'c', 'a']) {
    const request = { parent, tableId, table: undefined, initialSplits: [] };
    await unary(client.admin.createTable.bind(client.admin), request);
  }
  const list = (pageToken: string) =>
    unary(client.admin.listTables.bind(client.admin), { ...blank(ListTablesRequest), parent, pageSize: 2, pageToken });
  const first = await list('');
  const second = await list(first.nextPageToken);
  expect([first, second].map(({ tables }) => tables.map(({ name }) => name.slice(-1)).join(''))).toEqual(['ab', 'c']);
  expect(second.nextPageToken).toBe('');
});

test('a table that is protected is deleted only after it is no longer', async () => {
  const name = await createTable(client, 'protected', {});
  const protect = (deletionProtection: boolean) =>
    unary(client.admin.updateTable.bind(client.admin), {
      table: { ...blank(Table), name, deletionProtection },
      updateMask: ['deletion_protection'],
      ignoreWarnings: false,
    });
  const remove = () => code(unary(client.admin.deleteTable.bind(client.admin), { name }));
  expect((await protect(true)).done).toBe(true);
  expect(await remove()).toBe('FAILED_PRECONDITION');
  await protect(false);
  expect(await remove()).toBe('OK');
});

test('what was written is consistent at once', async () => {
  const name = await createTable(client, 'consistent', {});
  const { consistencyToken } = await unary(client.admin.generateConsistencyToken.bind(client.admin), { name });
  const check = { name, consistencyToken, mode: undefined };
  expectFields(await unary(client.admin.checkConsistency.bind(client.admin), check), { consistent: true });
});

test('an RPC that is not served is UNIMPLEMENTED', async () => {
  const path = '/google.bigtable.admin.v2.BigtableTableAdmin/ListBackups';
  const same = (bytes: Buffer): Buffer => bytes;
  const call = new Promise((resolve, reject) => {
    client.admin.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });
  expect(await code(call)).toBe('UNIMPLEMENTED');
});
