import { blank, unary } from '../../infra/local/cloud/unary.ts';
import type { RowRange } from '../../shared/proto/google/bigtable/v2/data.ts';
import { SampleRowKeysRequest } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { GcRule } from '../../shared/proto/google/bigtable/admin/v2/table.ts';
import { type ColumnFamily } from '../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { ModifyColumnFamiliesRequest_Modification } from '../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import {
  code,
  entry,
  messages,
  mutateRows,
  readRequest,
  readRows,
  setCell,
  type RawClient,
} from '../support/bigtable-raw-client.ts';
import type { ContractCase, CreateTable } from './bigtable-case.ts';

const KEYS = ['a', 'b', 'c', 'd'];

const withRows = async (client: RawClient, create: CreateTable, splits?: readonly string[]): Promise<string> => {
  const table = await create({ f: {} }, splits);
  await mutateRows(
    client,
    table,
    KEYS.map((key) => entry(key, setCell('f', 'q', key))),
  );
  return table;
};

const keysOf = async (client: RawClient, table: string, more: Parameters<typeof readRows>[2]): Promise<string> =>
  (await readRows(client, table, more)).map(({ key }) => key).join('');

const range = (start: RowRange['startKey'], end: RowRange['endKey']): Parameters<typeof readRows>[2] => ({
  rows: { rowKeys: [], rowRanges: [{ startKey: start, endKey: end }] },
});
const closed = (key: string) => ({ $case: 'startKeyClosed' as const, value: Buffer.from(key) });
const open = (key: string) => ({ $case: 'startKeyOpen' as const, value: Buffer.from(key) });
const upTo = (key: string) => ({ $case: 'endKeyClosed' as const, value: Buffer.from(key) });
const before = (key: string) => ({ $case: 'endKeyOpen' as const, value: Buffer.from(key) });

export const READ_CASES: readonly ContractCase[] = [
  {
    name: 'row ranges are open or closed at each end',
    async run(client, create) {
      const table = await withRows(client, create);
      return [
        await keysOf(client, table, range(closed('b'), upTo('c'))),
        await keysOf(client, table, range(open('b'), before('d'))),
        await keysOf(client, table, range(undefined, before('c'))),
        await keysOf(client, table, range(open('c'), undefined)),
      ];
    },
    service: ['bc', 'c', 'ab', 'd'],
  },
  {
    name: 'keys and ranges that overlap give every row once, in order',
    async run(client, create) {
      const table = await withRows(client, create);
      const rowRanges = [{ startKey: closed('b'), endKey: upTo('c') }];
      return keysOf(client, table, {
        rows: { rowKeys: ['d', 'b', 'a', 'b'].map((key) => Buffer.from(key)), rowRanges },
      });
    },
    service: 'abcd',
  },
  {
    name: 'a limit ends the scan',
    run: async (client, create) => keysOf(client, await withRows(client, create), { rowsLimit: 2n }),
    service: 'ab',
  },
  {
    name: 'a reversed scan runs from the end, limit included',
    async run(client, create) {
      const table = await withRows(client, create);
      return keysOf(client, table, { ...range(closed('b'), before('d')), reversed: true, rowsLimit: 1n }).catch(
        () => 'refused',
      );
    },
    service: 'c',
  },
  {
    name: 'a range that is open at its own end key is INVALID_ARGUMENT',
    run: async (client, create) => code(readRows(client, await withRows(client, create), range(open('b'), upTo('b')))),
    service: 'INVALID_ARGUMENT',
  },
  {
    name: 'a value larger than a chunk arrives whole',
    async run(client, create) {
      const table = await create({ f: {} });
      const value = Buffer.alloc(2_500_000, 'x');
      await mutateRows(client, table, [entry('a', setCell('f', 'empty', ''), setCell('f', 'large', value))]);
      const [row] = await readRows(client, table);
      return row?.cells.map((cell) => cell.length);
    },
    service: ['f:empty@1000='.length, 'f:large@1000='.length + 2_500_000],
  },
  {
    name: 'a scan of a missing table is NOT_FOUND',
    run: (client) => code(readRows(client, 'projects/p/instances/i/tables/absent')),
    service: 'NOT_FOUND',
  },
  {
    name: 'a filter that names a family which the table lacks is NOT_FOUND',
    run: async (client, create) =>
      code(
        readRows(client, await withRows(client, create), {
          filter: { filter: { $case: 'familyNameRegexFilter', value: 'absent' } },
        }),
      ),
    service: 'NOT_FOUND',
  },
  {
    name: 'SampleRowKeys gives the boundaries of the tablets and an empty last key',
    async run(client, create) {
      const splits = ['cc', 'bb'];
      const tableName = await withRows(client, create, splits);
      const samples = await messages(client.data.sampleRowKeys({ ...blank(SampleRowKeysRequest), tableName }));
      const keys = samples.map(({ rowKey }) => rowKey.toString());
      return { boundaries: keys.filter((key) => splits.includes(key)), last: keys.at(-1) };
    },
    service: { boundaries: ['bb', 'cc'], last: '' },
  },
  {
    name: 'a filter over 20,480 bytes is INVALID_ARGUMENT',
    run: async (client, create) =>
      code(
        messages(
          client.data.readRows(
            readRequest(await withRows(client, create), {
              filter: { filter: { $case: 'valueRegexFilter', value: Buffer.alloc(20_480, 'a') } },
            }),
          ),
        ),
      ),
    service: 'INVALID_ARGUMENT',
  },
  {
    name: 'a family with a maximum of versions shows no more of them',
    async run(client, create) {
      const gcRule: GcRule = { rule: { $case: 'maxNumVersions', value: 1 } };
      const table = await create({ f: { gcRule } });
      await mutateRows(client, table, [entry('a', setCell('f', 'q', '1', 1000n), setCell('f', 'q', '2', 2000n))]);
      return readRows(client, table);
    },
    service: [{ key: 'a', cells: ['f:q@2000=2'] }],
  },
];

const modification = (
  id: string,
  mod: ModifyColumnFamiliesRequest_Modification['mod'],
): ModifyColumnFamiliesRequest_Modification => ({ id, mod, updateMask: undefined });
const FAMILY: ColumnFamily = { gcRule: undefined, valueType: undefined };

const modify = async (
  { admin }: RawClient,
  create: CreateTable,
  ...modifications: ModifyColumnFamiliesRequest_Modification[]
): Promise<unknown> => {
  const name = await create({ f: {} });
  const status = await code(
    unary(admin.modifyColumnFamilies.bind(admin), { name, modifications, ignoreWarnings: false }),
  );
  const { columnFamilies } = await unary(admin.getTable.bind(admin), { name, view: 2 });
  return { status, families: Object.keys(columnFamilies).toSorted() };
};

export const ADMIN_CASES: readonly ContractCase[] = [
  {
    name: 'families are created, changed and dropped in one step',
    run: (client, create) =>
      modify(
        client,
        create,
        modification('g', { $case: 'create', value: FAMILY }),
        modification('g', {
          $case: 'update',
          value: { ...FAMILY, gcRule: { rule: { $case: 'maxNumVersions', value: 2 } } },
        }),
        modification('f', { $case: 'drop', value: true }),
      ),
    service: { status: 'OK', families: ['g'] },
  },
  {
    name: 'creating a family that exists is ALREADY_EXISTS',
    run: (client, create) => modify(client, create, modification('f', { $case: 'create', value: FAMILY })),
    service: { status: 'ALREADY_EXISTS', families: ['f'] },
  },
  {
    name: 'dropping a missing family is NOT_FOUND, and none of the request is done',
    run: (client, create) =>
      modify(
        client,
        create,
        modification('g', { $case: 'create', value: FAMILY }),
        modification('absent', { $case: 'drop', value: true }),
      ),
    service: { status: 'NOT_FOUND', families: ['f'] },
  },
  {
    name: 'updating a missing family is NOT_FOUND',
    run: (client, create) => modify(client, create, modification('absent', { $case: 'update', value: FAMILY })),
    service: { status: 'NOT_FOUND', families: ['f'] },
  },
  {
    name: 'creating a table that exists is ALREADY_EXISTS',
    async run({ admin }, create) {
      const [parent = '', tableId = ''] = (await create({ f: {} })).split('/tables/');
      return code(unary(admin.createTable.bind(admin), { parent, tableId, table: undefined, initialSplits: [] }));
    },
    service: 'ALREADY_EXISTS',
  },
  {
    name: 'a deleted table is gone',
    async run({ admin }, create) {
      const name = await create({ f: {} });
      await unary(admin.deleteTable.bind(admin), { name });
      return code(unary(admin.getTable.bind(admin), { name, view: 0 }));
    },
    service: 'NOT_FOUND',
  },
  {
    name: 'DropRowRange deletes the rows of a prefix',
    async run(client, create) {
      const name = await withRows(client, create);
      const target = { $case: 'rowKeyPrefix' as const, value: Buffer.from('b') };
      await unary(client.admin.dropRowRange.bind(client.admin), { name, target });
      return keysOf(client, name, {});
    },
    service: 'acd',
  },
];
