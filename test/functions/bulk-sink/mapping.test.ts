import { describe, expect, test } from 'vitest';
import type { ColumnFamily } from '../../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { Mutation } from '../../../shared/proto/google/bigtable/v2/data.ts';
import { startBigtableServer } from '../../../infra/local/servers/bigtable/server.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { compiled } from '../../shared/mapping/mappings.ts';
import { jsonRecord } from '../../shared/mapping/records.ts';
import { aggregateFamily, connect, createTable, mutateRow } from '../../support/bigtable-raw-client.ts';
import { startMappedSink } from '../../support/mapped-sink.ts';
import { PUBLISH_TIME_MICROS } from '../../support/push-body.ts';
import { old, REQUEST_CASES } from '../../support/request-cases.ts';
import { sendRowRequest } from '../../support/sent-row-request.ts';
import { TABLE } from '../../support/sink-harness.ts';
import { newestCells, shownInt64, storedRows, type StoredRows } from '../../support/stored-rows.ts';

/** Every write mode against a Bigtable, its effect read back with the official client. */

const AT = `@${PUBLISH_TIME_MICROS}`;
const BEFORE = '@1000';

interface SinkCase {
  readonly name: string;
  readonly mapping: Readonly<Record<string, unknown>>;
  readonly families?: Readonly<Record<string, Partial<ColumnFamily>>>;
  /** What the row `k` holds before. */
  readonly before?: readonly Mutation[];
  /** JSON of one message each, all of one publish time. */
  readonly records: readonly string[];
  readonly after: StoredRows;
}

const text = { families: { f: { columns: { s: 'string' } } } };
const operation = {
  field: 'op',
  values: { put: 'write', row: 'delete-row', family: { deleteFamilies: ['f'] }, column: { deleteColumns: ['f:s'] } },
};
const three = [old('f:s'), old('f:t'), old('g:s')];

const SINK_CASES: readonly SinkCase[] = [
  {
    name: 'upsert: a redelivery writes the same version, and another version stays',
    mapping: text,
    before: [old('f:s')],
    records: ['{"s":"new"}', '{"s":"new"}'],
    after: { k: { [`f:s${AT}`]: 'new', [`f:s${BEFORE}`]: 'old' } },
  },
  {
    name: 'upsert: int64 and decimals that no double holds survive',
    mapping: {
      families: {
        f: {
          columns: {
            id: 'int64',
            price: { type: 'decimal(38,18)', encoding: 'text' },
            all: { type: 'json', field: 'nested' },
          },
        },
      },
    },
    records: [
      '{"id":10000000001922600,"price":12345678901234567890.123456789012345678,"nested":{"n":10000000001922601,"d":0.10}}',
    ],
    after: {
      k: {
        [`f:all${AT}`]: '{"n":10000000001922601,"d":0.10}',
        [`f:id${AT}`]: shownInt64(10_000_000_001_922_600n),
        [`f:price${AT}`]: '12345678901234567890.123456789012345678',
      },
    },
  },
  {
    name: 'upsert: one timestamp of the record for all of its cells',
    mapping: { ...text, timestamp: { field: 'at', unit: 'rfc3339' } },
    records: ['{"s":"x","at":"2026-01-02T03:04:05.678Z"}'],
    after: { k: { [`f:s@1767323045678000`]: 'x' } },
  },
  {
    name: 'keep-latest: no other version stays, and other columns do',
    mapping: { writeMode: 'keep-latest', ...text },
    before: three,
    records: ['{"s":"new"}'],
    after: { k: { [`f:s${AT}`]: 'new', [`f:t${BEFORE}`]: 'old', [`g:s${BEFORE}`]: 'old' } },
  },
  {
    name: 'aggregate: integers are added up by the service',
    mapping: {
      writeMode: 'aggregate',
      families: { sum: { aggregate: 'int64-sum', columns: { n: 'int64' } }, max: { aggregate: 'int64-max', columns: { n: 'int64' } } },
    },
    families: { sum: aggregateFamily('sum'), max: aggregateFamily('max') },
    records: ['{"n":5}', '{"n":-7}', '{"n":9007199254740993}'],
    after: { k: { [`max:n${AT}`]: shownInt64(9_007_199_254_740_993n), [`sum:n${AT}`]: shownInt64(9_007_199_254_740_991n) } },
  },
  {
    name: 'nulls: encoded, ignored and deleted, column by column',
    mapping: {
      nullString: 'none',
      families: {
        f: {
          columns: {
            s: 'string',
            n: { type: 'int64', onMissing: 'null' },
            t: { type: 'string', onNull: 'ignore' },
          },
        },
        g: { columns: { s: { type: 'string', onNull: 'delete' } } },
      },
    },
    before: three,
    records: ['{"s":null,"t":null}'],
    after: { k: { [`f:n${AT}`]: '', [`f:s${AT}`]: 'none', [`f:s${BEFORE}`]: 'old', [`f:t${BEFORE}`]: 'old' } },
  },
  {
    name: 'dynamic columns that merge leave the others alone',
    mapping: { families: { f: { dynamic: { field: 'tags', type: 'string' } } } },
    before: three,
    records: ['{"tags":{"s":"new","u":"new"}}'],
    after: { k: { [`f:s${AT}`]: 'new', [`f:s${BEFORE}`]: 'old', [`f:t${BEFORE}`]: 'old', [`f:u${AT}`]: 'new', [`g:s${BEFORE}`]: 'old' } },
  },
  {
    name: 'dynamic columns that replace are all that the family holds',
    mapping: { families: { f: { dynamic: { field: 'tags', type: 'string', update: 'replace' } } } },
    before: three,
    records: ['{"tags":{"u":"new"}}'],
    after: { k: { [`f:u${AT}`]: 'new', [`g:s${BEFORE}`]: 'old' } },
  },
  {
    name: 'an operation deletes a column',
    mapping: { ...text, operation },
    before: three,
    records: ['{"op":"column"}'],
    after: { k: { [`f:t${BEFORE}`]: 'old', [`g:s${BEFORE}`]: 'old' } },
  },
  {
    name: 'an operation deletes a family',
    mapping: { ...text, operation },
    before: three,
    records: ['{"op":"family"}'],
    after: { k: { [`g:s${BEFORE}`]: 'old' } },
  },
  {
    name: 'an operation deletes the row, undeclared families included, and the next one writes it again',
    mapping: { ...text, operation },
    before: three,
    records: ['{"op":"row"}', '{"op":"put","s":"new"}'],
    after: { k: { [`f:s${AT}`]: 'new' } },
  },
  {
    name: 'an operation deletes the declared families where it says so',
    mapping: { ...text, operation: { ...operation, rowDelete: 'declared-families' } },
    before: three,
    records: ['{"op":"row"}'],
    after: { k: { [`g:s${BEFORE}`]: 'old' } },
  },
]; // prettier-ignore

describe('through the bulk sink', () => {
  test.each(SINK_CASES)('$name', async ({ mapping, families, before = [], records, after }) => {
    await using sink = await startMappedSink({
      mapping: { rowKey: '${@attributes.key}', ...mapping },
      ...(families && { families }),
      before,
    });
    for (const data of records) {
      expect(await sink.push({ data, attributes: { key: 'k' } })).toEqual({ status: 204, text: '' });
    }
    expect(await storedRows(sink.bigtable.address, 't')).toEqual(after);
    expect(await sink.letters()).toEqual([]);
  });
});

describe('as single-row requests, sent with the generated client', () => {
  test.each(REQUEST_CASES)('$name', async ({ mapping, before = [], records, answers, after }) => {
    await using opened = new AsyncDisposableStack();
    const bigtable = await startBigtableServer();
    opened.defer(() => bigtable.close());
    const client = connect(bigtable.address);
    opened.defer(() => {
      client.close();
    });
    await createTable(client, 't', { f: {}, g: {} });
    if (before.length > 0) {
      await mutateRow(client, { tableName: TABLE, rowKey: Buffer.from('k'), mutations: [...before] });
    }
    const { prepare } = await compiled({ rowKey: '${@messageId}', ...mapping });
    const given: (boolean | string[])[] = [];
    for (const record of records) {
      const write = prepare(jsonRecord(record, { messageId: 'k' }), {
        publishTimeMicros: PUBLISH_TIME_MICROS,
      })?.write();
      if (!write || write.kind === 'entry') throw new TypeError('every record of these cases is a row request');
      given.push(await sendRowRequest(client, tableName('p', 'i', 't'), write));
    }
    expect(given).toEqual(answers);
    expect(await newestCells(bigtable.address, 't')).toEqual(after);
  });
});
