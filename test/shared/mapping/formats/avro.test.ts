import avro from 'avsc';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import { avroDecoder } from '../../../../shared/mapping/formats/avro.ts';
import { Instant, NumberText, type FieldValue } from '../../../../shared/mapping/values/field-value.ts';
import { problemsOf } from '../mappings.ts';
import { recordOf } from '../records.ts';

const REVISION = '0000000a';

interface Read {
  readonly encoding?: 'binary' | 'json';
  /** The fields that the record was written with. */
  readonly written?: readonly object[];
  readonly name?: string;
}

const schemaOf = (fields: readonly object[], name = 'R'): string => JSON.stringify({ type: 'record', name, fields });

/** What a record with these fields is read as. */
function read(fields: readonly object[], data: Buffer | string, { encoding = 'binary', written, name }: Read = {}): FieldValue {
  const { decode } = avroDecoder({
    type: 'avro',
    encoding,
    schema: schemaOf(fields),
    revisions: written ? { [REVISION]: schemaOf(written, name) } : {},
  });
  return decode(recordOf(data, { attributes: { googclient_schemarevisionid: REVISION } }));
} // prettier-ignore

/** The problems of a mapping whose records were written with other fields. */
const revisionProblems = (fields: readonly object[], written: readonly object[], name?: string): readonly string[] =>
  problemsOf({
    format: {
      type: 'avro',
      encoding: 'binary',
      schema: schemaOf(fields),
      revisions: { [REVISION]: { schema: schemaOf(written, name) } },
    },
    rowKey: '${id}',
    families: { f: { columns: { id: 'string' } } },
  });

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const id = { name: 'id', type: 'string' };
const decimal = (precision: number, scale: number): object => ({
  name: 'n',
  type: { type: 'bytes', logicalType: 'decimal', precision, scale },
});
const long = (logicalType: string): object => ({ name: 'n', type: { type: 'long', logicalType } });

describe('binary Avro is refused where', () => {
  test.each<[string, readonly object[], string, string]>([
    ['a text is not UTF-8', [id], '02 e6', 'a text that is not UTF-8'],
    ['a text of a union is not UTF-8', [{ name: 'n', type: ['null', 'string'] }], '02 02 f8', 'a text that is not UTF-8'],
    ['a text with attributes is not UTF-8', [{ name: 'n', type: { type: 'string', 'avro.java.string': 'String' } }], '02 f8', 'a text that is not UTF-8'],
    ['a key of a map is not UTF-8', [{ name: 'm', type: { type: 'map', values: 'string' } }], '02 02 ff 02 61 00', 'a text that is not UTF-8'],
    ['a map has a key twice', [{ name: 'm', type: { type: 'map', values: 'string' } }], '04 02 61 02 62 02 61 02 63 00', 'a key of a map twice'],
    ['a boolean is another byte', [{ name: 'b', type: 'boolean' }], '02', 'a boolean that is neither 0 nor 1'],
    ['a long has more than 64 bits', [{ name: 'n', type: 'long' }], '80 80 80 80 80 80 80 80 80 02', 'other bytes'],
    ['an array counts more items than there are bytes', [{ name: 'a', type: { type: 'array', items: 'null' } }], 'fe ff ff ff ff ff 3f', 'other bytes'],
    ['a decimal has no byte', [decimal(4, 2)], '00', 'n: must have a byte at least'],
    ['a time of day is a whole day', [long('time-micros')], '80 80 b5 bb 84 05', 'n: must be a time of day, below 24 hours'],
    ['a time of day is after midnight of the next', [long('time-micros')], '80 a5 ab dc 8d 05', 'n: must be a time of day'],
    ['a time of day is negative', [long('time-micros')], 'ff 8f 9d e9 1a', 'n: must be a time of day'],
    ['a time of day in milliseconds is negative', [{ name: 'n', type: { type: 'int', logicalType: 'time-millis' } }], '01', 'n: must be a time of day'],
  ])('%s', (_name, fields, bytes, said) => {
    expect(() => read(fields, hex(bytes))).toThrow(RecordError);
    expect(() => read(fields, hex(bytes))).toThrow(said);
  }); // prettier-ignore
});

describe('binary Avro keeps', () => {
  test('a replacement character and a byte order mark that the publisher wrote', () => {
    expect(read([id], hex('06 ef bf bd'))).toEqual({ id: '\uFFFD' });
    expect(read([id], hex('06 ef bb bf'))).toEqual({ id: '\uFEFF' });
  });

  test('a key of a map named __proto__', () => {
    const fields = [{ name: 'm', type: { type: 'map', values: 'string' } }];
    const value = read(fields, hex('04 12 5f5f70726f746f5f5f 02 76 02 62 02 77 00'));
    expect(JSON.stringify(value)).toBe('{"m":{"__proto__":"v","b":"w"}}');
  });

  test('the last moment of a day', () => {
    expect(read([{ name: 'n', type: { type: 'int', logicalType: 'time-millis' } }], hex('fe ef b2 52'))).toEqual({
      n: '23:59:59.999',
    });
  });

  test('a local timestamp as if its clock showed UTC', () => {
    expect(read([long('local-timestamp-millis')], hex('d0 0f'))).toEqual({ n: new Instant(1_000_000_000n) });
  });

  test('arrays and maps in blocks with their size', () => {
    const fields = [{ name: 'a', type: { type: 'array', items: 'int' } }];
    expect(read(fields, hex('03 04 02 04 02 06 00'))).toEqual({ a: [1n, 2n, 3n] });
  });
});

describe('a schema', () => {
  const defaultOf = (type: string, digits: string): string =>
    `{"type":"record","name":"R","fields":[{"name":"n","type":"${type}","default":${digits}}]}`;
  const ofDefault = (type: string, digits: string): FieldValue =>
    avroDecoder({ type: 'avro', encoding: 'json', schema: defaultOf(type, digits), revisions: {} }).decode(
      recordOf('{}'),
    );

  test('may have any long as a default', () => {
    expect(ofDefault('long', '9223372036854775807')).toEqual({ n: 2n ** 63n - 1n });
    expect(ofDefault('long', '-9223372036854775808')).toEqual({ n: -(2n ** 63n) });
    expect(ofDefault('double', '9223372036854775807')).toEqual({ n: 2 ** 63 });
  });

  test.each([
    ['a default beyond a long', defaultOf('long', '9223372036854775808')],
    ['a field named __proto__', schemaOf([{ name: '__proto__', type: 'string' }])],
    ['no record outermost', '"string"'],
  ])('with %s is a problem of the configuration', (_name, schema) => {
    const [problem, ...more] = problemsOf({ format: { type: 'avro', schema }, rowKey: '${@messageId}', families: { f: { columns: { a: { field: '@messageId', type: 'string' } } } } }); // prettier-ignore
    expect(problem).toContain('mapping.format.schema: must be a schema of avro');
    expect(more).toEqual([]);
  }); // prettier-ignore
});

describe('JSON-encoded Avro', () => {
  const kind = { name: 'k', type: { type: 'enum', name: 'K', symbols: ['A', 'OTHER'], default: 'OTHER' } };

  test('honours the aliases of fields and the default of an enum, as binary does', () => {
    const fields = [{ ...id, aliases: ['key'] }, kind];
    expect(read(fields, '{"key":"a","k":"NEWER"}', { encoding: 'json' })).toEqual({ id: 'a', k: 'OTHER' });
    expect(() => read(fields, '{"key":"a","id":"b","k":"A"}', { encoding: 'json' })).toThrow(
      'id: must be there under one of its names',
    );
  });

  test('of a revision is read as binary Avro of that revision', () => {
    const fields = [{ ...id, aliases: ['key'] }, kind, { name: 'n', type: ['null', 'long'] }, { name: 'added', type: 'int', default: 7 }]; // prettier-ignore
    const written = [{ name: 'key', type: 'bytes' }, { name: 'k', type: { type: 'enum', name: 'K', symbols: ['A', 'B'] } }, { name: 'n', type: ['null', 'int'] }]; // prettier-ignore
    const datum = { key: Buffer.from('é'), k: 'B', n: { int: 5 } };
    const bytes = avro.Type.forSchema(JSON.parse(schemaOf(written)) as avro.Schema, { wrapUnions: 'always' }).toBuffer(datum); // prettier-ignore
    const expected = { id: 'é', k: 'OTHER', n: 5n, added: 7n };
    expect(read(fields, bytes, { written })).toEqual(expected);
    expect(read(fields, '{"key":"\u00c3\u00a9","k":"B","n":{"int":5}}', { written, encoding: 'json' })).toEqual(expected);
    expect(() => read(fields, '{"key":"\u00e6","k":"A","n":null}', { written, encoding: 'json' })).toThrow('not UTF-8');
    expect(() => read(fields, '{"key":"a","k":"NEWER","n":null}', { written, encoding: 'json' })).toThrow(
      'k: must be a symbol of its enum',
    );
  }); // prettier-ignore

  test('with a member that no schema has is refused where revisions say the schema it was written with, and may be newer elsewhere', () => {
    const text = '{"id":"a","amuont":1}';
    const added = { name: 'amount', type: 'long', default: 0 };
    expect(read([id, added], text, { encoding: 'json' })).toEqual({ id: 'a', amount: 0n });
    expect(() => read([id, added], text, { encoding: 'json', written: [id, added] })).toThrow(
      'amuont: must be a field of the schema that its revision names, got a number',
    );
  }); // prettier-ignore

  test('with a member twice is refused', () => {
    expect(() => read([id], '{"id":"a","id":"b"}', { encoding: 'json' })).toThrow('id: must be there once');
  });

  test('with half a surrogate pair is refused, for it has no form in UTF-8', () => {
    expect(() => read([id], String.raw`{"id":"\ud800"}`, { encoding: 'json' })).toThrow('id: must be well-formed Unicode');
  }); // prettier-ignore
});

describe('a revision', () => {
  test('of another namespace is read: records match by their unqualified name', () => {
    const fields = [id, { name: 'n', type: 'long' }];
    expect(revisionProblems(fields, fields, 'old.R')).toEqual([]);
    expect(read(fields, hex('02 61 53'), { written: fields, name: 'old.R' })).toEqual({ id: 'a', n: -42n });
  });

  test.each<[string, readonly object[], readonly object[], string]>([
    ['a decimal of another scale', [id, decimal(6, 3)], [id, decimal(4, 2)], 'cannot read decimal of scale 2 as decimal of scale 3'],
    ['a timestamp of another unit', [id, long('timestamp-micros')], [id, long('timestamp-millis')], 'cannot read timestamp-millis as timestamp-micros'],
    ['a local timestamp as an instant', [id, long('timestamp-millis')], [id, long('local-timestamp-millis')], 'cannot read local-timestamp-millis as timestamp-millis'],
    ['another timestamp in a union', [id, { name: 'n', type: ['null', (long('timestamp-micros') as { type: object }).type] }], [id, long('timestamp-millis')], 'cannot read'],
    ['no field that the schema has without a default', [id, { name: 'n', type: 'long' }], [id], 'no matching field for default-less R.n'],
    ['a long where the schema has an int', [id, { name: 'n', type: 'int' }], [id, { name: 'n', type: 'long' }], 'cannot read'],
  ])('with %s is a problem of the configuration', (_name, fields, written, said) => {
    const [problem, ...more] = revisionProblems(fields, written);
    expect(problem).toContain(`mapping.format.revisions.${REVISION}: must be readable as schema: `);
    expect(problem).toContain(said);
    expect(more).toEqual([]);
  }); // prettier-ignore

  test('of the same logical type is read exactly', () => {
    const fields = [id, { ...decimal(6, 2), name: 'price' }, long('timestamp-millis'), { name: 'x', type: 'int', default: 1 }]; // prettier-ignore
    const written = [long('timestamp-millis'), id, { ...decimal(6, 2), name: 'price' }];
    expect(read(fields, hex('d00f 0261 027f'), { written })).toEqual({
      id: 'a', price: new NumberText('1.27'), n: new Instant(1_000_000_000n), x: 1n,
    }); // prettier-ignore
  }); // prettier-ignore

  test.each(['float', 'double'])('promotes a long to a %s, and refuses one that would be rounded', (type) => {
    const [fields, written] = [[{ name: 'n', type }], [{ name: 'n', type: 'long' }]];
    expect(read(fields, hex('53'), { written })).toEqual({ n: -42 });
    expect(() => read(fields, hex('82 80 80 80 80 80 80 20'), { written })).toThrow('cannot hold');
  });

  test('keeps texts as texts where the union has bytes before them', () => {
    const fields = [{ name: 'n', type: ['bytes', 'string'] }];
    expect(read(fields, hex('02 02 61'), { written: fields })).toEqual({ n: 'a' });
  });

  test('is read where two types of a union differ in nothing but their namespace', () => {
    const inner = (name: string): object => ({ type: 'record', name, fields: [{ name: 'v', type: 'int' }] });
    const fields = [
      { name: 'a', type: [inner('x.I'), inner('y.I')] },
      { name: 'b', type: ['x.I', 'y.I'] },
    ];
    expect(read(fields, hex('02 02 00 04'), { written: fields })).toEqual({ a: { v: 1n }, b: { v: 2n } });
  });
});
