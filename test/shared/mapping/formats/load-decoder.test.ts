import avro from 'avsc';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import type { ResolvedFormat } from '../../../../shared/mapping/declared/resolved.ts';
import { type FieldValue, Instant, NumberText } from '../../../../shared/mapping/values/field-value.ts';
import { loadDecoder } from '../../../../shared/mapping/formats/load-decoder.ts';
import { jsonRecord, recordOf } from '../records.ts';

type SchemaFormat = Exclude<ResolvedFormat, { type: 'json' }>;

const binary = { attributes: { googclient_schemaencoding: 'BINARY' } };
const json = { attributes: { googclient_schemaencoding: 'JSON' } };

describe('JSON', () => {
  test.each<[string, Buffer, string]>([
    ['no JSON', Buffer.from('{"a":secret}'), 'record: must be JSON, got other text'],
    ['nothing', Buffer.alloc(0), 'record: must be JSON, got other text'],
    ['marked numbers before the error', Buffer.from('{"a":1.5,"b":2.5,x}'), 'at position 17'],
    [
      'a byte order mark',
      Buffer.from('\uFEFF{}'),
      'record: must be JSON in UTF-8, got a byte order mark before the JSON',
    ],
    ['UTF-16 with its mark', Buffer.from('\uFEFF{"a":"é"}', 'utf16le'), 'record: must be JSON in UTF-8, got UTF-16'],
    ['UTF-16 without one', Buffer.from('{"a":1}', 'utf16le'), 'record: must be JSON in UTF-8, got UTF-16'],
    [
      'UTF-16 of the other order',
      Buffer.from('{"a":1}', 'utf16le').swap16(),
      'record: must be JSON in UTF-8, got UTF-16',
    ],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'record: must be JSON in UTF-8, got other bytes'],
  ])('%s is refused, quoting nothing', async (_name, data, rule) => {
    const { decode } = await loadDecoder({ type: 'json' });
    expect(() => decode(recordOf(data))).toThrow(RecordError);
    expect(() => decode(recordOf(data))).toThrow(rule);
    expect(() => decode(recordOf(data))).not.toThrow('secret');
  });
});

describe('Avro', () => {
  const schema = {
    type: 'record',
    name: 'shop.Order',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'count', type: 'int' },
      { name: 'ratio', type: 'double' },
      { name: 'name', type: ['null', 'string'] },
      { name: 'raw', type: 'bytes' },
      { name: 'hash', type: { type: 'fixed', name: 'Hash', size: 2 } },
      { name: 'kind', type: { type: 'enum', name: 'Kind', symbols: ['NEW', 'OLD'] } },
      { name: 'tags', type: { type: 'map', values: 'long' } },
      { name: 'lines', type: { type: 'array', items: { type: 'record', name: 'Line', fields: [{ name: 'sku', type: 'string' }] } } },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-micros' } },
      { name: 'seen', type: ['null', { type: 'long', logicalType: 'timestamp-millis' }] },
      { name: 'day', type: { type: 'int', logicalType: 'date' } },
      { name: 'clock', type: { type: 'long', logicalType: 'time-micros' } },
      { name: 'price', type: { type: 'bytes', logicalType: 'decimal', precision: 20, scale: 2 } },
      { name: 'parent', type: ['null', 'Order'], default: null },
      { name: 'choice', type: ['int', 'long', 'string'] },
    ],
  }; // prettier-ignore
  const format: SchemaFormat = { type: 'avro', encoding: 'attribute', schema: JSON.stringify(schema), revisions: {} };
  const plain = avro.Type.forSchema(schema as avro.Schema, {
    wrapUnions: 'always',
    typeHook: (written) => (written === 'long' || (typeof written === 'object' && 'logicalType' in written && 'type' in written && written.type === 'long') ? bigLong() : undefined),
  }); // prettier-ignore
  function bigLong(): avro.Type {
    return avro.types.LongType.__with({
      fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
      toBuffer: (value: bigint) => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigInt64LE(value);
        return bytes;
      },
      fromJSON: BigInt,
      toJSON: String,
      isValid: (value: unknown) => typeof value === 'bigint',
      compare: () => 0,
    });
  }
  const bare = {
    id: 2n ** 60n + 1n,
    count: -5,
    ratio: 0.1,
    name: { string: 'a' },
    raw: Buffer.from([0, 255]),
    hash: Buffer.from([1, 2]),
    kind: 'OLD',
    tags: { a: -1n },
    lines: [{ sku: 'x' }],
    at: 1_764_455_172_123_456n,
    seen: { long: 5n },
    day: 20786,
    clock: 1_500_001n,
    price: Buffer.from([0xff, 0x85]),
    parent: null,
    choice: { long: 7n },
  };
  const datum = { ...bare, parent: { 'shop.Order': bare } };
  const expectedBare = {
    id: 2n ** 60n + 1n,
    count: -5n,
    ratio: 0.1,
    name: 'a',
    raw: Buffer.from([0, 255]),
    hash: Buffer.from([1, 2]),
    kind: 'OLD',
    tags: { a: -1n },
    lines: [{ sku: 'x' }],
    at: new Instant(1_764_455_172_123_456_000n),
    seen: new Instant(5_000_000n),
    day: '2026-11-29',
    clock: '00:00:01.500001',
    price: new NumberText('-1.23'),
    parent: null,
    choice: 7n,
  };
  const jsonText = (overrides: Readonly<Record<string, string>> = {}): string => {
    const members: Record<string, string> = {
      id: '1152921504606846977', count: '-5', ratio: '0.1', name: '{"string":"a"}', raw: String.raw`"\u0000\u00ff"`,
      hash: String.raw`"\u0001\u0002"`, kind: '"OLD"', tags: '{"a":-1}', lines: '[{"sku":"x"}]', at: '1764455172123456',
      seen: '{"long":5}', day: '20786', clock: '1500001', price: String.raw`"\u00ff\u0085"`, parent: 'null', choice: '{"long":7}',
      ...overrides,
    }; // prettier-ignore
    return `{${Object.entries(members).map(([name, text]) => `"${name}":${text}`).join(',')}}`; // prettier-ignore
  };

  test('binary keeps every digit, unwraps unions and knows the logical types', async () => {
    const { decode } = await loadDecoder(format);
    expect(decode(recordOf(plain.toBuffer(datum), binary))).toEqual({ ...expectedBare, parent: expectedBare });
  });

  test('the JSON encoding reads the same', async () => {
    const { decode } = await loadDecoder(format);
    expect(decode(jsonRecord(jsonText(), json))).toEqual(expectedBare);
    expect(decode(jsonRecord(jsonText({ parent: `{"shop.Order":${jsonText()}}` }), json))).toEqual({
      ...expectedBare,
      parent: expectedBare,
    });
  });

  test('every long survives both encodings', async () => {
    const { decode } = await loadDecoder({ ...format, schema: '{"type":"record","name":"R","fields":[{"name":"id","type":"long"}]}' });
    const type = avro.Type.forSchema({ type: 'record', name: 'R', fields: [{ name: 'id', type: 'long' }] }, { typeHook: (written) => (written === 'long' ? bigLong() : undefined) }); // prettier-ignore
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(decode(recordOf(type.toBuffer({ id }), binary))).toEqual({ id });
        expect(decode(jsonRecord(`{"id":${id}}`, json))).toEqual({ id });
      }),
      { seed: 20261129 },
    );
  }); // prettier-ignore

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['a long out of range', { id: '9223372036854775808' }, 'id: must be a 64-bit integer, got a number'],
    ['a long in a text', { id: '"5"' }, 'id: must be a 64-bit integer, got a text'],
    ['an int with a fraction', { count: '1.5' }, 'count: must be a 32-bit integer'],
    ['a double beyond its range', { ratio: '1e400' }, 'ratio: must be a number'],
    ['an unwrapped union', { name: '"a"' }, 'name: must be one branch of its union, by name'],
    ['an unknown branch', { name: '{"int":1}' }, 'name: must be one branch'],
    ['a symbol that is none', { kind: '"GONE"' }, 'kind: must be a symbol of its enum'],
    ['bytes beyond U+00FF', { raw: '"ā"' }, 'raw: must be bytes'],
    ['a fixed of another size', { hash: '"a"' }, 'hash: must be 2 bytes'],
    ['a nested wrong type', { lines: '[{"sku":1}]' }, 'lines.0.sku: must be a string'],
    ['a map that is a list', { tags: '[]' }, 'tags: must be a map, got a list'],
  ])('JSON with %s is refused by its path', async (_name, overrides, rule) => {
    const { decode } = await loadDecoder(format);
    expect(() => decode(jsonRecord(jsonText(overrides), json))).toThrow(rule);
  });

  test('a field that is missing in JSON takes its default or is refused', async () => {
    const { decode } = await loadDecoder(format);
    const text = jsonText();
    expect(decode(jsonRecord(text.replace(',"parent":null', ''), json))).toEqual(expectedBare);
    expect(() => decode(jsonRecord(text.replace('"count":-5,', ''), json))).toThrow(
      'count: must be a 32-bit integer, got nothing',
    );
  });

  test.each([
    ['cut short', plain.toBuffer(datum).subarray(0, 9)],
    ['too long', Buffer.concat([plain.toBuffer(datum), Buffer.of(0)])],
    ['empty', Buffer.alloc(0)],
    ['noise', Buffer.from('ffffffffffffffffffffffffffffff', 'hex')],
  ])('binary that is %s is refused', async (_name, data) => {
    const { decode } = await loadDecoder(format);
    expect(() => decode(recordOf(data, binary))).toThrow('record: must be binary Avro of the schema, got other bytes');
  });

  test('a record of an older revision is resolved to the schema of the mapping', async () => {
    const older = { type: 'record', name: 'R', fields: [{ name: 'n', type: 'int' }] };
    const newer = { type: 'record', name: 'R', fields: [{ name: 'n', type: 'long' }, { name: 'at', type: ['null', { type: 'long', logicalType: 'timestamp-millis' }], default: null }] }; // prettier-ignore
    const { decode } = await loadDecoder({
      ...format,
      schema: JSON.stringify(newer),
      revisions: { '0000aaaa': JSON.stringify(older), '0000bbbb': JSON.stringify(newer) },
    });
    const data = avro.Type.forSchema(older as avro.Schema).toBuffer({ n: -7 });
    const of = (revision?: string): ReturnType<typeof recordOf> =>
      recordOf(data, { attributes: { ...binary.attributes, ...(revision !== undefined && { googclient_schemarevisionid: revision }) } }); // prettier-ignore
    expect(decode(of('0000aaaa'))).toEqual({ n: -7n, at: null });
    expect(() => decode(of('0000cccc'))).toThrow(
      '@attributes.googclient_schemarevisionid: must be one of the revisions',
    );
    expect(() => decode(of())).toThrow('got nothing');
  });
});

describe('Protobuf', () => {
  const schema = `syntax = "proto3"; package shop;
    import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto"; import "google/protobuf/struct.proto";
    import "google/protobuf/duration.proto";
    enum Kind { UNKNOWN = 0; NEW = 1; }
    message Line { string sku = 1; }
    message Order {
      int64 order_id = 1; uint64 big = 2; optional string name = 3; repeated Line lines = 4; map<string, int64> tags = 5;
      oneof which { string a = 6; int32 b = 7; } Kind kind = 8; google.protobuf.Timestamp at = 9; bytes raw = 10;
      double ratio = 11; google.protobuf.Int64Value wrapped = 12; google.protobuf.Struct extra = 13; Line main = 14;
      google.protobuf.Duration took = 15; sint64 zig = 16; bool on = 17; repeated sfixed64 many = 18; map<int64, Line> by_id = 19;
    }`;
  const format: SchemaFormat = {
    type: 'protobuf',
    encoding: 'attribute',
    schema,
    message: 'shop.Order',
    revisions: {},
  };
  const { root } = protobuf.parse(schema, { keepCase: true });
  for (const name of ['timestamp', 'wrappers', 'struct', 'duration']) {
    root.addJSON(protobuf.common.get(`google/protobuf/${name}.proto`)?.nested ?? {});
  }
  const type = root.lookupType('shop.Order');
  const long = (value: bigint, unsigned = false): { low: number; high: number; unsigned: boolean } => ({
    low: Number(BigInt.asIntN(32, value)),
    high: Number(BigInt.asIntN(32, value >> 32n)),
    unsigned,
  });
  const encode = (fields: Record<string, unknown>): Buffer => Buffer.from(type.encode(type.create(fields)).finish());
  const defaults = {
    order_id: 0n, big: 0n, name: null, lines: [], tags: {}, a: null, b: null, kind: 'UNKNOWN', at: null, raw: Buffer.alloc(0),
    ratio: 0, wrapped: null, extra: null, main: null, took: null, zig: 0n, on: false, many: [], by_id: {},
  }; // prettier-ignore
  const full = {
    order_id: -(2n ** 63n), big: 2n ** 64n - 1n, name: '', lines: [{ sku: 'x' }], tags: { k: 2n ** 53n + 1n }, a: null, b: 0,
    kind: 'NEW', at: new Instant(1_764_455_172_123_456_789n), raw: Buffer.from([0, 255]), ratio: 0.1, wrapped: 0n,
    extra: { a: [1, 'x', null, true], b: {} }, main: { sku: '' }, took: new NumberText('-1.500000000'), zig: -3n, on: true,
    many: [-1n], by_id: { 7: { sku: 'y' } },
  }; // prettier-ignore

  test('binary keeps every digit; unset is null with presence and the default without', async () => {
    const { decode } = await loadDecoder(format);
    expect(decode(recordOf(encode({}), binary))).toEqual(defaults);
    const bytes = encode({
      order_id: long(-(2n ** 63n)), big: long(2n ** 64n - 1n, true), name: '', lines: [{ sku: 'x' }], tags: { k: long(2n ** 53n + 1n) },
      b: 0, kind: 1, at: { seconds: long(1_764_455_172n), nanos: 123_456_789 }, raw: Buffer.from([0, 255]), ratio: 0.1, wrapped: {},
      extra: { fields: { a: { listValue: { values: [{ numberValue: 1 }, { stringValue: 'x' }, { nullValue: 0 }, { boolValue: true }] } }, b: { structValue: { fields: {} } } } },
      main: {}, took: { seconds: long(-1n), nanos: -500_000_000 }, zig: long(-3n), on: true, many: [long(-1n)], by_id: { 7: { sku: 'y' } },
    }); // prettier-ignore
    expect(decode(recordOf(bytes, binary))).toEqual(full);
  });

  test('ProtoJSON reads the same, in camel case or as written, with integers in texts or bare', async () => {
    const { decode } = await loadDecoder(format);
    const text = `{"orderId":-9223372036854775808,"big":"18446744073709551615","name":"","lines":[{"sku":"x"}],"tags":{"k":9007199254740993},
      "b":0,"kind":"NEW","at":"2025-11-29T22:26:12.123456789Z","raw":"AP8=","ratio":0.1,"wrapped":0,"extra":{"a":[1,"x",null,true],"b":{}},
      "main":{},"took":"-1.5s","zig":"-3","on":true,"many":[-1],"by_id":{"7":{"sku":"y"}}}`;
    expect(decode(jsonRecord(text, json))).toEqual(full);
  });

  test('a number of an enum that the schema does not name stays a number', async () => {
    const { decode } = await loadDecoder(format);
    expect(decode(recordOf(encode({ kind: 9 }), binary))).toEqual({ ...defaults, kind: 9 });
  });

  test('every int64 survives both encodings', async () => {
    const { decode } = await loadDecoder(format);
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        expect(decode(recordOf(encode({ order_id: long(value) }), binary))).toEqual({ ...defaults, order_id: value });
        expect(decode(jsonRecord(`{"order_id":${value}}`, json))).toEqual({ ...defaults, order_id: value });
      }),
      { seed: 20261129 },
    );
  });

  test.each<[string, string, string]>([
    ['an int64 out of range', '{"orderId":"9223372036854775808"}', 'shop.Order.order_id: out of range for int64'],
    ['an unknown field', '{"secret":1}', 'shop.Order: unknown field'],
    ['a double beyond its range', '{"ratio":1e400}', 'shop.Order.ratio: invalid number'],
    ['a member twice', '{"orderId":1,"orderId":2}', 'orderId: must be there once'],
    ['a date that does not exist', '{"at":"2026-02-30T00:00:00Z"}', 'google.protobuf.Timestamp: invalid timestamp'],
    ['no object', '5', 'record: must be ProtoJSON of shop.Order'],
    ['no JSON', '{', 'record: must be JSON'],
  ])('ProtoJSON with %s is refused, quoting nothing', async (_name, text, rule) => {
    const { decode } = await loadDecoder(format);
    expect(() => decode(jsonRecord(text, json))).toThrow(RecordError);
    expect(() => decode(jsonRecord(text, json))).toThrow(rule);
    expect(() => decode(jsonRecord(text, json))).not.toThrow(/secret|9223372036854775808|2026-02-30|1e400/);
  });

  test.each(['9007199254740993', '9007199254740993.0', '9.007199254740993e15', '"9007199254740993"'])(
    'an int64 in ProtoJSON keeps its digits when it is spelt %s',
    async (text) => {
      const { decode } = await loadDecoder(format);
      expect(decode(jsonRecord(`{"orderId":${text}}`, json))).toMatchObject({ order_id: 9_007_199_254_740_993n });
    },
  );

  test('a number in a Struct stays one, the nearest double', async () => {
    const { decode } = await loadDecoder(format);
    const extra = (text: string): unknown => decode(jsonRecord(`{"extra":{"n":[${text}]}}`, json));
    expect(extra('9007199254740993')).toMatchObject({ extra: { n: [9_007_199_254_740_992] } });
    expect(extra('0.10')).toMatchObject({ extra: { n: [0.1] } });
    expect(() => extra('1e400')).toThrow('must hold in a google.protobuf.Struct what a double can');
  });

  test.each([
    ['a Timestamp of 2,000,000,000 nanos', { at: { nanos: 2_000_000_000 } }, 'google.protobuf.Timestamp: must have nanos below a second, none negative, got 2000000000'],
    ['a Timestamp of negative nanos', { at: { seconds: 1, nanos: -1 } }, 'google.protobuf.Timestamp: must have nanos below a second, none negative, got -1'],
    ['a Duration of two signs', { took: { seconds: 1, nanos: -1 } }, 'google.protobuf.Duration: must have nanos below a second and the sign of its seconds, got -1'],
  ])('binary with %s is refused', async (_name, fields, rule) => {
    const { decode } = await loadDecoder(format);
    expect(() => decode(recordOf(encode(fields), binary))).toThrow(rule);
  }); // prettier-ignore

  test('binary with text that is not UTF-8 is refused by that', async () => {
    const { decode } = await loadDecoder(format);
    for (const hex of ['1a01e6', '72030a01e6']) {
      const decoding = (): unknown => decode(recordOf(Buffer.from(hex, 'hex'), binary));
      expect(decoding, hex).toThrow('record: must be a binary shop.Order, got a text that is not UTF-8');
    }
  });

  test.each([
    ['cut short', encode({ name: 'abc' }).subarray(0, 3)],
    ['noise', Buffer.from('ffffffff', 'hex')],
  ])('binary that is %s is refused', async (_name, data) => {
    const { decode } = await loadDecoder(format);
    expect(() => decode(recordOf(data, binary))).toThrow('record: must be a binary shop.Order, got other bytes');
  });

  test('a revision is read with its own schema', async () => {
    const older = 'syntax = "proto3"; package shop; message Order { int64 order_id = 3; }';
    const { decode } = await loadDecoder({ ...format, revisions: { '0000aaaa': older } });
    const data = Buffer.from('1805', 'hex');
    const attributes = { ...binary.attributes, googclient_schemarevisionid: '0000aaaa' };
    expect(decode(recordOf(data, { attributes }))).toEqual({ order_id: 5n } satisfies FieldValue);
  });
});

describe('the attributes of a topic with a schema', () => {
  const schema = 'syntax = "proto3"; message R { int32 n = 1; }';
  const format: SchemaFormat = { type: 'protobuf', encoding: 'attribute', schema, message: 'R', revisions: {} };

  test('the encoding comes from the message or from the mapping', async () => {
    const { decode } = await loadDecoder(format);
    expect(() => decode(jsonRecord('{"n":1}'))).toThrow('@attributes.googclient_schemaencoding: must be there');
    expect(() => decode(jsonRecord('{"n":1}', { attributes: { googclient_schemaencoding: 'XML' } }))).toThrow(
      'must be BINARY or JSON, got another text',
    );
    const fixed = await loadDecoder({ ...format, encoding: 'json' });
    expect(fixed.decode(jsonRecord('{"n":1}'))).toEqual({ n: 1 });
  });

  test('another schema than the stated one is refused', async () => {
    const { decode } = await loadDecoder({ ...format, schemaName: 'projects/p/schemas/s' });
    const of = (name: string): ReturnType<typeof recordOf> =>
      jsonRecord('{"n":1}', { attributes: { ...json.attributes, googclient_schemaname: name } });
    expect(decode(of('projects/p/schemas/s'))).toEqual({ n: 1 });
    expect(() => decode(of('projects/p/schemas/t'))).toThrow('must be the schemaName of the mapping');
  });
});
