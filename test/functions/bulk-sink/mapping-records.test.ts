import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import { startMappedSink } from '../../support/mapped-sink.ts';
import { PUBLISH_TIME_MICROS } from '../../support/push-body.ts';
import type { SinkHarness } from '../../support/sink-harness.ts';
import { shownInt64, storedRows } from '../../support/stored-rows.ts';

/** What arrives at a sink with a mapping: formats, routes, skips, and what is wrong with a record. */

const AT = `@${PUBLISH_TIME_MICROS}`;
const ID = 10_000_000_001_922_600n;

describe('records of topics with a schema', () => {
  const families = { f: { columns: { id: 'int64', name: 'string' } } };
  const avroSchema = {
    type: 'record',
    name: 'Order',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'name', type: 'string' },
    ],
  };
  const avro = { type: 'avro', schema: JSON.stringify(avroSchema) };
  const protobuf = { type: 'protobuf', schema: 'syntax = "proto3"; message Order { int64 id = 1; string name = 2; }' };
  // Avro writes a long as Protobuf writes a sint64, and the length of a text as a long.
  const name = Buffer.from('né');
  const avroRecord = new BinaryWriter().sint64(ID).sint64(name.length).raw(name).finish();
  const protobufRecord = new BinaryWriter().uint32(8).int64(ID).uint32(18).string('né').finish();

  test.each([
    ['Avro, binary', avro, 'BINARY', avroRecord],
    ['Avro, JSON', avro, 'JSON', `{"id":${ID},"name":"né"}`],
    ['Protobuf, binary', protobuf, 'BINARY', protobufRecord],
    ['Protobuf, JSON', protobuf, 'JSON', `{"id":"${ID}","name":"né"}`],
  ])('%s, as the attribute of the message says', async (_name, format, encoding, data) => {
    await using sink = await startMappedSink({ mapping: { format, rowKey: 'order-${id}', families } });
    const attributes = { googclient_schemaencoding: encoding };
    expect(await sink.push({ data, attributes })).toEqual({ status: 204, text: '' });
    expect(await storedRows(sink.bigtable.address, 't')).toEqual({
      [`order-${ID}`]: { [`f:id${AT}`]: shownInt64(ID), [`f:name${AT}`]: String.raw`n\xc3\xa9` },
    });
  });

  test('a message without the attribute, and bytes of another schema, are dead letters', async () => {
    await using sink = await startMappedSink({ mapping: { format: avro, rowKey: '${id}', families } });
    expect((await sink.push({ data: avroRecord })).status).toBe(204);
    const attributes = { googclient_schemaencoding: 'BINARY' };
    expect((await sink.push({ data: avroRecord.subarray(0, 5), attributes })).status).toBe(204);
    const errors = (await sink.letters()).map((letter) => letter.attributes['dlq-error']);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain('@attributes.googclient_schemaencoding: must be there');
    expect(errors[1]).toContain('record: must ');
  });
});

describe('routes and skips', () => {
  const families = { f: { columns: { s: 'string' } } };

  test('every record goes to the table that its fields name; one outside of the range is a dead letter', async () => {
    const destination = { template: 'orders-${region}', tables: ['orders-eu', 'orders-us'] };
    await using sink = await startMappedSink({
      mapping: { rowKey: '${id}', families, destination },
      pipeline: { framing: 'ndjson' },
    });
    await sink.createTable('orders-eu', ['f']);
    await sink.createTable('orders-us', ['f']);
    const records = ['eu', 'us', 'mars', 'eu'].map((region, id) => JSON.stringify({ id, region, s: 'x' }));
    expect((await sink.push({ data: records.join('\n') })).status).toBe(204);
    const keys = async (table: string): Promise<string[]> => (await sink.rows(table)).map(({ key }) => key);
    expect(await Promise.all(['orders-eu', 'orders-us', 't'].map(keys))).toEqual([['0', '3'], ['1'], []]);
    const [letter, ...others] = await sink.letters();
    expect(others).toEqual([]);
    expect(letter?.attributes['dlq-error']).toContain('destination: must be one of the tables of the mapping');
    expect(letter?.attributes['dlq-record-index']).toBe('2');
  });

  test('one table more than stated is redelivered, because the record is not at fault', async () => {
    const destination = { template: 'd-${id}', pattern: String.raw`d-\d`, maxTables: 1 };
    await using sink = await startMappedSink({ mapping: { rowKey: '${id}', families, destination } });
    await sink.createTable('d-1', ['f']);
    expect((await sink.push({ data: '{"id":1,"s":"x"}' })).status).toBe(204);
    const { status, text } = await sink.push({ data: '{"id":2,"s":"x"}' });
    expect(status).toBe(500);
    expect(text).toContain('maxTables');
    expect(await sink.letters()).toEqual([]);
  });

  test('what is skipped is acknowledged and written nowhere, even where it does not decode', async () => {
    const skipWhen = [
      { field: '@attributes.kind', equals: 'heartbeat' },
      { field: 's', in: ['draft', 'test'] },
    ];
    await using sink = await startMappedSink({ mapping: { rowKey: '${id}', families, skipWhen } });
    expect((await sink.push({ data: 'not JSON', attributes: { kind: 'heartbeat' } })).status).toBe(204);
    expect((await sink.push({ data: '{"id":1,"s":"draft"}' })).status).toBe(204);
    expect((await sink.push({ data: '{"id":2,"s":"final"}' })).status).toBe(204);
    expect((await sink.rows()).map(({ key }) => key)).toEqual(['2']);
    expect(await sink.letters()).toEqual([]);
    expect(sink.count('recordsSkipped')).toBe(2);
  });
});

describe('bad input', () => {
  const mapping = {
    rowKey: '${shop}#${id|pad:4}',
    timestamp: { field: 'at', unit: 'micros' },
    operation: { field: 'op', values: { put: 'write', clear: { deleteFamilies: ['f'] } } },
    families: {
      f: { columns: { total: 'int32', 'customer.name': { type: 'string', field: 'customer.name', onNull: 'reject' } } },
      g: { dynamic: { field: 'tags', type: 'int8', onMissing: 'null' } },
    },
  };
  const good = { shop: 'a', id: 1, op: 'put', at: 1_000, total: 5, customer: { name: 'x' } };
  const tooMany = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [index, 1]));

  const CASES: readonly (readonly [name: string, data: string, reason: string])[] = [
    ['bytes that are no JSON', '{"secret', 'record: must be JSON'],
    ['a scalar', '"secret"', 'op: must be there'],
    ['a missing field of the key', JSON.stringify({ ...good, shop: undefined }), 'shop: must be there'],
    ['a null in the key', JSON.stringify({ ...good, shop: null }), 'shop: must not be null'],
    ['an empty text in the key', JSON.stringify({ ...good, shop: '' }), 'shop: must not be empty'],
    ['the delimiter in the key', JSON.stringify({ ...good, shop: 'secret#1' }), 'shop: must not contain'],
    ['a number wider than its place', JSON.stringify({ ...good, id: 77777 }), 'id: must be an integer from 0 with at most 4'],
    ['a key that is too long', JSON.stringify({ ...good, shop: 'secret'.repeat(700) }), 'row key'],
    ['a value out of range', JSON.stringify({ ...good, total: 3_000_000_000 }), 'total: must be an integer from −2^31'],
    ['a value of another type', JSON.stringify({ ...good, total: 'secret' }), 'total: must be an integer'],
    ['a null where none may be', JSON.stringify({ ...good, customer: { name: null } }), 'customer.name: must not be null'],
    ['a missing nested field', JSON.stringify({ ...good, customer: {} }), 'customer.name: must be there'],
    ['a timestamp that is none', JSON.stringify({ ...good, at: 'secret' }), 'at: must be a count of micros'],
    ['an operation that is not listed', JSON.stringify({ ...good, op: 'secret' }), 'op: must be one of the values'],
    ['a member that does not fit', JSON.stringify({ ...good, tags: { secret: 500 } }), 'tags.*: must be an integer'],
    ['more mutations than an entry may have', JSON.stringify({ ...good, tags: tooMany }), 'record: must map to 1 to 100000 mutations'],
  ]; // prettier-ignore

  const logsOf = ({ logs }: SinkHarness): string => JSON.stringify(logs);

  test.each(CASES)('%s is a dead letter that names the path and not the value', async (_name, data, reason) => {
    await using sink = await startMappedSink({ mapping, pipeline: { framing: 'ndjson' } });
    const lines = [JSON.stringify(good), data, JSON.stringify({ ...good, id: 2 })];
    expect((await sink.push({ data: lines.join('\n') })).status).toBe(204);
    expect((await sink.rows()).map(({ key }) => key)).toEqual(['a#0001', 'a#0002']);
    const [letter, ...others] = await sink.letters();
    expect(others).toEqual([]);
    expect(letter?.data.toString()).toBe(data);
    expect(letter?.attributes).toMatchObject({ 'dlq-reason': 'serializer', 'dlq-record-index': '1' });
    expect(letter?.attributes['dlq-error']).toContain(reason);
    expect(letter?.attributes['dlq-error']).not.toMatch(/secret|77777|3000000000/);
    expect(logsOf(sink)).not.toMatch(/secret|77777|3000000000/);
  });

  test('a timestamp finer than the table takes is refused by the service, never rounded', async () => {
    await using sink = await startMappedSink({ mapping });
    expect((await sink.push({ data: JSON.stringify({ ...good, at: 1_001 }) })).status).toBe(204);
    expect(await sink.rows()).toEqual([]);
    expect((await sink.letters()).map((letter) => letter.attributes['dlq-reason'])).toEqual(['rejected']);
  });
});
