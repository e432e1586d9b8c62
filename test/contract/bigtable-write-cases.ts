import { MAX_MUTATIONS, MAX_ROW_KEY_BYTES } from '../../shared/model/mutation.ts';
import {
  aggregate,
  aggregateFamily,
  append,
  checkAndMutate,
  code,
  deleteColumn,
  deleteFamily,
  deleteRow,
  entry,
  increment,
  mutateRow,
  mutateRows,
  readModifyWrite,
  readRows,
  setCell,
  statuses,
} from '../support/bigtable-raw-client.ts';
import type { ContractCase } from './bigtable-case.ts';

/** What became of a request that one of its entries spoils, and what is in the table afterwards. */
const spoiled =
  (bad: ReturnType<typeof entry>): ContractCase['run'] =>
  async (client, create) => {
    const table = await create({ f: {}, sum: aggregateFamily('sum') });
    const answers = mutateRows(client, table, [entry('good', setCell('f', 'q', 'v')), bad]);
    const verdict = await answers.then(statuses, () => code(answers));
    return { verdict, rows: (await readRows(client, table)).length };
  };

const WHOLE_REQUEST_REFUSED = { verdict: 'INVALID_ARGUMENT', rows: 0 };

export const MUTATE_ROWS_CASES: readonly ContractCase[] = [
  {
    name: 'MutateRows answers every entry by its index',
    async run(client, create) {
      const table = await create({ f: {} });
      return statuses(await mutateRows(client, table, [entry('b', setCell('f', 'q', '1')), entry('a', deleteRow)]));
    },
    service: [
      [0, 'OK'],
      [1, 'OK'],
    ],
  },
  {
    name: 'a timestamp that is not a multiple of 1000 µs refuses the whole request',
    run: spoiled(entry('bad', setCell('f', 'q', 'v', 1001n))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'a negative timestamp other than −1 refuses the whole request',
    run: spoiled(entry('bad', setCell('f', 'q', 'v', -1000n))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'an aggregate takes no server time',
    run: spoiled(entry('bad', aggregate('addToCell', 'sum', { $case: 'intValue', value: 1n }, { micros: -1n }))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'an empty row key refuses the whole request',
    run: spoiled(entry('', setCell('f', 'q', 'v'))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'a row key over 4 KiB refuses the whole request',
    run: spoiled(entry('k'.repeat(MAX_ROW_KEY_BYTES + 1), setCell('f', 'q', 'v'))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'a qualifier over 16 KiB refuses the whole request',
    run: spoiled(entry('bad', setCell('f', 'q'.repeat(16 * 1024 + 1), 'v'))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'an entry without mutations refuses the whole request',
    run: spoiled(entry('bad')),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'more than 100,000 mutations refuse the whole request',
    run: spoiled(entry('bad', ...Array.from({ length: MAX_MUTATIONS }, () => deleteFamily('f')))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'SetCell in an aggregate family refuses the whole request',
    run: spoiled(entry('bad', setCell('sum', 'q', '12345678'))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'AddToCell in a family of raw bytes refuses the whole request',
    run: spoiled(entry('bad', aggregate('addToCell', 'f', { $case: 'intValue', value: 1n }))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'MergeToCell with a raw value refuses the whole request',
    run: spoiled(entry('bad', aggregate('mergeToCell', 'sum', { $case: 'rawValue', value: Buffer.alloc(8) }))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'an unknown family in one entry is NOT_FOUND for every entry',
    run: spoiled(entry('bad', setCell('absent', 'q', 'v'))),
    service: {
      verdict: [
        [0, 'NOT_FOUND'],
        [1, 'NOT_FOUND'],
      ],
      rows: 0,
    },
  },
  {
    name: 'no entries are INVALID_ARGUMENT',
    run: async (client, create) => code(mutateRows(client, await create({ f: {} }), [])),
    service: 'INVALID_ARGUMENT',
  },
  {
    name: 'a missing table is NOT_FOUND',
    run: (client) =>
      code(mutateRows(client, 'projects/p/instances/i/tables/absent', [entry('a', setCell('f', 'q', 'v'))])),
    service: 'NOT_FOUND',
  },
  {
    name: 'a missing app profile is NOT_FOUND',
    run: async (client, create) =>
      code(mutateRows(client, await create({ f: {} }), [entry('a', setCell('f', 'q', 'v'))], { profile: 'absent' })),
    service: 'NOT_FOUND',
  },
  {
    name: 'the mutations of an entry apply in order',
    async run(client, create) {
      const table = await create({ f: {}, g: {} });
      await mutateRows(client, table, [
        entry('a', setCell('f', 'q', 'old'), setCell('g', 'q', 'gone'), deleteRow, setCell('f', 'q', 'new')),
        entry('b', setCell('f', 'x', '1'), setCell('g', 'y', '2'), deleteFamily('g')),
        entry('c', setCell('f', 'q', '1', 1000n), setCell('f', 'q', '2', 2000n), setCell('f', 'q', '3', 3000n)),
        entry('d', setCell('f', 'q', 'v'), deleteColumn('f', 'q')),
      ]);
      await mutateRows(client, table, [entry('c', deleteColumn('f', 'q', 2000n, 3000n))]);
      return readRows(client, table);
    },
    service: [
      { key: 'a', cells: ['f:q@1000=new'] },
      { key: 'b', cells: ['f:x@1000=1'] },
      { key: 'c', cells: ['f:q@3000=3', 'f:q@1000=1'] },
    ],
  },
  {
    name: 'a range of timestamps to delete must be of whole milliseconds',
    run: spoiled(entry('bad', deleteColumn('f', 'q', 1001n, 2000n))),
    service: WHOLE_REQUEST_REFUSED,
  },
  {
    name: 'Int64 aggregates keep the sum, the minimum and the maximum',
    async run(client, create) {
      const table = await create({
        max: aggregateFamily('max'),
        min: aggregateFamily('min'),
        sum: aggregateFamily('sum'),
      });
      for (const value of [9n, 4n, 6n]) {
        const families = ['max', 'min', 'sum'];
        await mutateRows(client, table, [
          entry('a', ...families.map((family) => aggregate('addToCell', family, { $case: 'intValue', value }))),
        ]);
      }
      const state = Buffer.alloc(8);
      state.writeBigInt64BE(100n);
      await mutateRows(client, table, [
        entry('a', aggregate('mergeToCell', 'sum', { $case: 'bytesValue', value: state })),
      ]);
      const [row] = await readRows(client, table);
      return row?.cells.map((cell) => Buffer.from(cell.slice(-8), 'latin1').readBigInt64BE());
    },
    service: [9n, 4n, 119n],
  },
];

export const SINGLE_ROW_CASES: readonly ContractCase[] = [
  {
    name: 'MutateRow names an unknown family with NOT_FOUND',
    run: async (client, create) =>
      code(
        mutateRow(client, {
          tableName: await create({ f: {} }),
          rowKey: Buffer.from('a'),
          mutations: [setCell('absent', 'q', 'v')],
        }),
      ),
    service: 'NOT_FOUND',
  },
  {
    name: 'CheckAndMutateRow without a predicate asks whether the row has any cell',
    async run(client, create) {
      const request = {
        tableName: await create({ f: {} }),
        rowKey: Buffer.from('a'),
        trueMutations: [setCell('f', 'branch', 'true')],
        falseMutations: [setCell('f', 'branch', 'false')],
      };
      const matched = [await checkAndMutate(client, request), await checkAndMutate(client, request)];
      return [...matched, ...(await readRows(client, request.tableName))];
    },
    service: [false, true, { key: 'a', cells: ['f:branch@1000=true'] }],
  },
  {
    name: 'CheckAndMutateRow with a predicate chooses the branch by what it leaves',
    async run(client, create) {
      const tableName = await create({ f: {} });
      await mutateRows(client, tableName, [entry('a', setCell('f', 'q', 'v'))]);
      const request = { tableName, rowKey: Buffer.from('a'), trueMutations: [deleteRow] };
      const byValue = (value: string) => ({
        ...request,
        predicateFilter: { filter: { $case: 'valueRegexFilter' as const, value: Buffer.from(value) } },
      });
      const matched = [await checkAndMutate(client, byValue('w')), await checkAndMutate(client, byValue('v'))];
      return [...matched, await readRows(client, tableName)];
    },
    service: [false, true, []],
  },
  {
    name: 'CheckAndMutateRow without mutations is INVALID_ARGUMENT',
    run: async (client, create) =>
      code(checkAndMutate(client, { tableName: await create({ f: {} }), rowKey: Buffer.from('a') })),
    service: 'INVALID_ARGUMENT',
  },
  {
    name: 'ReadModifyWriteRow applies its rules in order and answers the changed cells',
    async run(client, create) {
      const request = { tableName: await create({ f: {} }), rowKey: Buffer.from('a') };
      await readModifyWrite(client, { ...request, rules: [append('f', 'text', 'a'), append('f', 'text', 'b')] });
      return readModifyWrite(client, { ...request, rules: [append('f', 'text', 'c'), append('f', 'other', 'x')] });
    },
    service: ['f:other=x', 'f:text=abc'],
  },
  {
    name: 'a counter is exact beyond 2^53',
    async run(client, create) {
      const request = { tableName: await create({ f: {} }), rowKey: Buffer.from('a') };
      await readModifyWrite(client, { ...request, rules: [increment('f', 'n', 2n ** 53n)] });
      const [cell = ''] = await readModifyWrite(client, { ...request, rules: [increment('f', 'n', 1n)] });
      return Buffer.from(cell.slice(-8), 'latin1').readBigInt64BE();
    },
    service: 2n ** 53n + 1n,
  },
  {
    name: 'an increment of a cell that is not 8 bytes long is INVALID_ARGUMENT and changes nothing',
    async run(client, create) {
      const request = { tableName: await create({ f: {} }), rowKey: Buffer.from('a') };
      await mutateRow(client, { ...request, mutations: [setCell('f', 'q', 'text')] });
      const rules = [append('f', 'other', 'x'), increment('f', 'q', 1n)];
      const status = await code(readModifyWrite(client, { ...request, rules }));
      const [row] = await readRows(client, request.tableName);
      return [status, ...(row?.cells.map((cell) => cell.split('@')[0]) ?? [])];
    },
    service: ['INVALID_ARGUMENT', 'f:q'],
  },
  {
    name: 'ReadModifyWriteRow refuses an empty row key',
    run: async (client, create) =>
      code(readModifyWrite(client, { tableName: await create({ f: {} }), rules: [append('f', 'q', 'v')] })),
    service: 'INVALID_ARGUMENT',
  },
];
