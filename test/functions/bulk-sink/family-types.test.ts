import { describe, expect, test } from 'vitest';
import { aggregateFamily, createTable, deleteTable } from '../../support/bigtable-raw-client.ts';
import { startMappedSink } from '../../support/mapped-sink.ts';
import { type SinkHarness, TABLE } from '../../support/sink-harness.ts';

/** A mapping and a table that do not fit, where the sink creates nothing. */

const sum = { f: aggregateFamily('sum') };
const key = { rowKey: '${k}' };
const adding = { ...key, writeMode: 'aggregate', families: { f: { aggregate: 'int64-sum', columns: { n: 'int64' } } } };
const setting = { ...key, families: { f: { columns: { n: 'int64' } } } };
const record = { data: '{"k":"r","n":1}' };

describe('a table whose family is of another type than the mapping needs', () => {
  test.each([
    { name: 'bytes, for a sum', mapping: adding, families: { f: {} }, sent: 0, type: 'raw' },
    { name: 'a sum, for cells that are set', mapping: setting, families: sum, sent: 1, type: 'int64-sum' },
  ])('drops no record: $name', async ({ mapping, families, sent, type }) => {
    await using sink = await startMappedSink({ mapping, families });
    const { status, text } = await sink.push(record);
    expect([status, text]).toEqual([
      503,
      expect.stringContaining(`the column family f of p.i.t is of the type ${type}`),
    ]);
    expect(await sink.letters()).toEqual([]);
    expect(sink.requests).toHaveLength(sent);
    expect(sink.count('messagesRedelivered', 'refused')).toBe(1);
  });

  test('is written once somebody has made it anew, by the next delivery', async () => {
    await using sink = await startMappedSink({
      mapping: setting,
      families: sum,
      pipeline: { writerOptions: { recoveryInitialBackoff: '100ms' } },
    });
    const message = { ...record, messageId: 'm-1' };
    expect((await sink.push(message)).status).toBe(503);
    await deleteTable(sink.client, TABLE);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await createTable(sink.client, 't', { f: {} });
    expect(await sink.push(message)).toEqual({ status: 204, text: '' });
    expect(await sink.rows()).toHaveLength(1);
    expect(await sink.letters()).toEqual([]);
  });
});

describe('a record that Bigtable refuses in a table that fits', () => {
  const refusing = async (): Promise<SinkHarness> => {
    const sink = await startMappedSink({ mapping: setting });
    const effect = { kind: 'refuse', status: { code: 'INVALID_ARGUMENT', message: 'bad' } } as const;
    sink.bigtable.faults.add({ method: 'MutateRows', times: Infinity, effect });
    return sink;
  };

  test('is a bad record, and its table is looked at once', async () => {
    await using sink = await refusing();
    for (let count = 0; count < 3; count += 1) expect((await sink.push(record)).status).toBe(204);
    expect(await sink.letters()).toHaveLength(3);
    expect(sink.bigtable.requestCounts().GetTable).toBe(1);
  });

  test('is one too where the account may not look', async () => {
    await using sink = await refusing();
    const effect = { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'no' } } as const;
    sink.bigtable.faults.add({ method: 'GetTable', times: Infinity, effect });
    expect((await sink.push(record)).status).toBe(204);
    expect(await sink.letters()).toHaveLength(1);
  });

  test('waits where the look fails in passing', async () => {
    await using sink = await refusing();
    const effect = { kind: 'refuse', status: { code: 'UNAVAILABLE', message: 'in passing' } } as const;
    sink.bigtable.faults.add({ method: 'GetTable', effect });
    expect((await sink.push(record)).status).toBe(503);
    expect(await sink.letters()).toEqual([]);
  });
});
