import { describe, expect, test } from 'vitest';
import { startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { wireFamily } from '../../../../shared/google/bigtable/families.ts';
import { encodeEntry } from '../../../../shared/mapping/rows/entry-wire.ts';
import { type Fate, REDELIVERED } from '../../../../shared/mapping/declared/redelivery.ts';
import type { FamilyType } from '../../../../shared/config/resolved.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { MutateRowsRequest_Entry } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { connect, createTable, mutateRow } from '../../../support/bigtable-raw-client.ts';
import { sendRowRequest } from '../../../support/sent-row-request.ts';
import { newestCells, storedRows } from '../../../support/stored-rows.ts';
import { TABLE } from '../../../support/sink-harness.ts';
import { compiled } from '../mappings.ts';
import { PUBLISH_TIME_MICROS, recordOf } from '../records.ts';

/** Every line of the table of redeliveries, applied: the mapping, the older record, the newer one. */

type What = (typeof REDELIVERED)[number]['what'];

interface Case {
  readonly mapping: Readonly<Record<string, unknown>>;
  readonly older: Readonly<Record<string, unknown>>;
  readonly newer: Readonly<Record<string, unknown>>;
}

const text = { families: { f: { columns: { s: 'string' } } } };
const set = { older: { op: 'set', s: 'older' }, newer: { op: 'set', s: 'newer' } };
const operation = {
  field: 'op',
  values: { set: 'write', column: { deleteColumns: ['f:s'] }, row: 'delete-row', family: { deleteFamilies: ['f'] } },
};
const deletes = (op: string): Case => ({ mapping: { ...text, operation }, older: { op }, newer: set.newer });
const unbounded = { columnDeletes: 'all-versions' };
const integer = { families: { f: { columns: { n: 'int64' } } } };
const cell = { type: 'set-cell', family: 'f', value: { field: 's', type: 'string' }, timestamp: { micros: 0 } };

const CASES: Readonly<Record<What, readonly Case[]>> = {
  '`upsert`': [
    { mapping: text, ...set },
    {
      mapping: { families: { f: { dynamic: { field: 'm', type: 'string' } } } },
      older: { m: { a: 'older', b: 'older' } },
      newer: { m: { a: 'newer' } },
    },
  ],
  '`keep-latest`': [{ mapping: { writeMode: 'keep-latest', ...text }, ...set }],
  'a null with `onNull: delete`': ['upsert', 'keep-latest'].map((writeMode) => ({
    mapping: { writeMode, onNull: 'delete', ...text },
    older: { s: null },
    newer: { s: 'newer' },
  })),
  '`deleteColumns`': [deletes('column')],
  'a cell that a newer record deletes': ['column', 'row', 'family'].map((op) => ({
    mapping: { ...text, operation },
    older: set.older,
    newer: { op },
  })),
  '`keep-latest` with `columnDeletes: all-versions`': [
    { mapping: { writeMode: 'keep-latest', ...unbounded, ...text }, ...set },
  ],
  '`deleteColumns` with `columnDeletes: all-versions`': [
    { ...deletes('column'), mapping: { ...text, ...unbounded, operation } },
  ],
  '`delete-row`': [
    deletes('row'),
    { ...deletes('row'), mapping: { ...text, operation: { ...operation, rowDelete: 'declared-families' } } },
  ],
  '`deleteFamilies`': [deletes('family')],
  'dynamic columns with `update: replace`': [
    {
      mapping: { families: { f: { dynamic: { field: 'm', type: 'string', update: 'replace' } } } },
      older: { m: { a: 'older' } },
      newer: { m: { a: 'newer', b: 'newer' } },
    },
  ],
  '`aggregate` with `int64-sum`': [aggregate('int64-sum')],
  '`aggregate` with `int64-min`, `int64-max` or `int64-hll`': ['int64-min', 'int64-max', 'int64-hll'].map(aggregate),
  '`insert-if-absent`': [{ mapping: { writeMode: 'insert-if-absent', ...text }, ...set }],
  '`replace-if-newest`': [{ mapping: { writeMode: 'replace-if-newest', ...text }, ...set }],
  '`append`': [{ mapping: { writeMode: 'append', ...text }, ...set }],
  '`increment`': [{ mapping: { writeMode: 'increment', ...integer }, older: { n: 1 }, newer: { n: 2 } }],
  '`conditional`': [
    {
      mapping: {
        writeMode: 'conditional',
        conditional: {
          predicate: { type: 'row-exists' },
          then: [{ ...cell, qualifier: 'second' }],
          otherwise: [{ ...cell, qualifier: 'first' }],
        },
      },
      ...set,
    },
  ],
};

function aggregate(type: string): Case {
  const family = { aggregate: type, columns: { n: 'int64' } };
  return { mapping: { writeMode: 'aggregate', families: { a: family } }, older: { n: 1 }, newer: { n: 2 } };
}

/** The rows after the records in every order; cells that the service dates itself without their times. */
async function applied({ mapping, older, newer }: Case): Promise<Readonly<Record<Order, Reading>>> {
  await using opened = new AsyncDisposableStack();
  const bigtable = await startBigtableServer();
  opened.defer(() => bigtable.close());
  const client = connect(bigtable.address);
  opened.defer(() => {
    client.close();
  });
  const { writeMode, families } = mapping as { writeMode?: string; families?: { a?: { aggregate: FamilyType } } };
  const type = families?.a?.aggregate;
  await createTable(client, 't', { f: {}, ...(type !== undefined && { a: wireFamily({ type }) }) });
  const { prepare } = await compiled({ rowKey: '${@attributes.row}', ...mapping });
  const times = { older: PUBLISH_TIME_MICROS, newer: PUBLISH_TIME_MICROS + 1_000_000n };
  for (const [row, order] of Object.entries(ORDERS)) {
    for (const which of order) {
      const publishTimeMicros = times[which];
      const record = recordOf({ older, newer }[which], { attributes: { row }, publishTimeMicros });
      const write = prepare(record, { publishTimeMicros })?.write();
      if (!write) throw new TypeError('no record of these cases is skipped');
      if (write.kind === 'entry') {
        const { rowKey, mutations } = MutateRowsRequest_Entry.decode(encodeEntry(write.entry));
        await mutateRow(client, { tableName: TABLE, rowKey, mutations });
      } else {
        await sendRowRequest(client, tableName('p', 'i', 't'), write);
      }
    }
  }
  const newest = await newestCells(bigtable.address, 't');
  // The service dates these itself.
  const all = writeMode === 'append' || writeMode === 'increment' ? newest : await storedRows(bigtable.address, 't');
  const rows = Object.keys(ORDERS).map((row) => [row, { all: all[row] ?? {}, newest: newest[row] ?? {} }] as const);
  return Object.fromEntries(rows) as Record<Order, Reading>;
}

const ORDERS = {
  inOrder: ['older', 'newer'],
  again: ['older', 'newer', 'older'],
  late: ['newer', 'older'],
  onlyOlder: ['older'],
  onlyNewer: ['newer'],
} as const;

type Order = keyof typeof ORDERS;

interface Reading {
  readonly all: Readonly<Record<string, string>>;
  /** The newest version of each column alone. */
  readonly newest: Readonly<Record<string, string>>;
}

function expectFate(fate: Fate, row: Reading, rows: Readonly<Record<Order, Reading>>): void {
  switch (fate) {
    case 'same':
      expect(row.all).toEqual(rows.inOrder.all);
      break;
    case 'older-beneath':
      expect(row.newest).toEqual(rows.inOrder.newest);
      expect(row.all).not.toEqual(rows.inOrder.all);
      break;
    case 'last-applied-wins':
      expect(row.newest).not.toEqual(rows.inOrder.newest);
      expect(row.all).toEqual(rows.onlyOlder.all);
      break;
    case 'first-applied-wins':
      expect(row.newest).not.toEqual(rows.inOrder.newest);
      expect(row.all).toEqual(rows.onlyNewer.all);
      break;
    case 'counts-again':
    case 'decided-anew':
      expect(row.all).not.toEqual(rows.inOrder.all);
      break;
  }
}

describe('what the page says of a record that is applied after a newer one is what happens', () => {
  const cases = REDELIVERED.flatMap(({ what, again, late }) => CASES[what].map((one) => ({ what, again, late, one })));
  test.each(cases)('$what: again $again, late $late', async ({ again, late, one }) => {
    const rows = await applied(one);
    expectFate(again, rows.again, rows);
    expectFate(late, rows.late, rows);
  });
});
