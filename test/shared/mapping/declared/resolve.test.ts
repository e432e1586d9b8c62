import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { resolveMapping } from '../../../../shared/mapping/declared/resolve.ts';
import { mappingSchema } from '../../../../shared/mapping/declared/schema/mapping.ts';

const families = { f: { columns: { s: 'string' } } };
const base = { rowKey: '${key}', families };

const problemsOf = (options: unknown, readFile?: (file: string) => string): readonly string[] =>
  resolveMapping(options, 'mapping', readFile).problems.map(({ path, rule, got }) => `${path}: ${rule}, got ${got}`);

test('the smallest mapping has the stated defaults', () => {
  const { mapping, problems } = resolveMapping(base, 'mapping');
  expect(problems).toEqual([]);
  expect(mapping).toEqual({
    format: { type: 'json' },
    rowKey: {
      kind: 'template',
      template: {
        parts: [{ kind: 'field', field: { from: 'payload', path: ['key'], label: 'key' }, modifiers: [] }],
        policy: { onNull: 'reject', onEmpty: 'reject', onDelimiter: 'reject' },
      },
    },
    skipWhen: [],
    write: {
      mode: 'upsert',
      timestamp: { from: 'publishTime' },
      rowDelete: 'row',
      columnDeletes: 'up-to-timestamp',
      families: [
        {
          family: 'f',
          columns: [
            {
              qualifier: 's',
              field: { from: 'payload', path: ['s'], label: 's' },
              format: { type: { kind: 'string' }, encoding: 'binary', nullString: 'null' },
              onNull: 'encode',
              onMissing: 'reject',
            },
          ],
        },
      ],
    },
  });
});

test('a resolved mapping is plain JSON', () => {
  const { mapping } = resolveMapping(
    {
      ...base,
      timestamp: { field: 'ts', unit: 'millis' },
      destination: { template: 'orders-${region}', tables: ['orders-eu'] },
      skipWhen: [{ field: '@attributes.kind', in: ['heartbeat', 5, true] }],
      operation: { field: 'op', values: { d: 'delete-row', u: { deleteColumns: ['f:s'] } } },
    },
    'mapping',
  );
  expect(JSON.parse(JSON.stringify(mapping))).toEqual(mapping);
});

test('every problem is reported at once, shape and meaning together, each by its path', () => {
  const problems = problemsOf({
    format: { type: 'xml' },
    rowKey: '${id|padd:3}',
    writeMode: 'upsert',
    nullString: 5,
    colour: 'red',
    families: {
      'c:d': { columns: { x: 'string' } },
      a: { columns: { x: 'strin', y: { type: 'int64', onNull: 'maybe' }, z: 5, w: { typ: 'int64' } } },
      g: { columns: {}, aggregate: 'int64-sum' },
    },
    timestamp: { field: 'a..b', unit: 'millis' },
    skipWhen: [{ field: 'a' }],
    destination: { template: 'orders-${region}' },
  });
  const paths = problems.map((problem) => problem.slice(0, problem.indexOf(': ')));
  expect(paths.toSorted()).toEqual(
    [
      'mapping.colour', 'mapping.format.type', 'mapping.nullString', 'mapping.rowKey', 'mapping.families["c:d"]',
      'mapping.families.a.columns.x', 'mapping.families.a.columns.y.onNull', 'mapping.families.a.columns.z',
      'mapping.families.a.columns.w.typ', 'mapping.families.a.columns.w.type', 'mapping.families.g.aggregate',
      'mapping.timestamp.field', 'mapping.skipWhen[0]', 'mapping.destination',
    ].toSorted(),
  ); // prettier-ignore
});

test('a broken option has one problem, not an echo in what holds it', () => {
  expect(problemsOf({ ...base, families: { f: { columns: { s: 5 } } } })).toEqual([
    'mapping.families.f.columns.s: must be a text, or an object of options, got 5',
  ]);
  const summed = { f: { aggregate: 'int64-sum', columns: { n: 'int64' } } };
  expect(problemsOf({ ...base, writeMode: 'upsrt', families: summed, conditional: {} })).toEqual([
    'mapping.writeMode: must be one of upsert, keep-latest, aggregate, insert-if-absent, replace-if-newest, append, increment, conditional, got "upsrt"',
    'mapping.conditional.predicate: must be an object of options, got nothing',
  ]);
});

test('the same messages come without a mapping and with one that is no object', () => {
  expect(problemsOf(undefined)).toEqual(['mapping: must be an object of options, got nothing']);
  expect(problemsOf([])).toEqual(['mapping: must be an object of options, got []']);
  expect(problemsOf({ families })).toEqual(['mapping.rowKey: must be a text, or an object of options, got nothing']);
});

describe('a template that cannot be right is refused with the position', () => {
  test.each<[string, string]>([
    ['static', 'must name at least one field, as in ${id} (at character 1)'],
    ['${', 'a field path needs a name here (at character 3)'],
    ['${a', 'a field must end with "}" (at character 1)'],
    ['x${a b}', 'unexpected " " in a field (at character 5)'],
    ['cost $5 ${a}', 'write $$ for a dollar sign and ${…} for a field (at character 6)'],
    ['${a|padd:3}', 'a modifier must be one of pad, hash, salt, reverse, timestamp, inverted, utc, escape, default, hex, lower, upper, number (at character 5)'],
    ['${a|constructor}', 'a modifier must be one of'],
    ['${a|pad}', 'pad needs a number from 1 to 76, as in pad:1 (at character 5)'],
    ['${a|pad:77}', 'pad needs a number from 1 to 76'],
    ['${a|hash:65}', 'hash needs a number from 1 to 64'],
    ['${a|salt:1}', 'salt needs a number from 2 to 10000'],
    ['${a|timestamp:days}', 'timestamp needs one of micros, millis, seconds, rfc3339'],
    ['${a|timestamp:millis|inverted:rfc3339}', 'inverted needs one of micros, millis, seconds'],
    ['${a|inverted:millis}', 'inverted needs an instant: write timestamp:<unit> before it (at character 5)'],
    ['${@messageId|utc:day}', 'utc needs an instant'],
    ['${a|utc:week}', 'utc needs one of year, month, day, hour'],
    ['${a|default}', 'default needs a text'],
    ['${a|hex:1}', 'hex takes no argument'],
    ['${a|escape}', 'escape needs the characters to escape where no delimiter follows'],
    ['${a}${b}', 'a field needs a delimiter or a fixed width (pad, hash, salt, inverted) before the next (at character 1)'],
    ['${a|hash:4|hex}${b}', 'a field needs a delimiter or a fixed width'],
    ['${@key}', 'must be one of @attributes.name, @orderingKey, @messageId, @publishTime'],
    ['${@attributes}', '@attributes must be followed by ".name"'],
    ['${@attributes.}', 'an attribute needs a name'],
    ['${a.}', 'a field path needs a name here (at character 5)'],
    ['${"a}', 'a quoted name must end with a quote (at character 3)'],
    ['${"\\x"}', 'a quoted name must be a JSON string'],
  ])('%s', (rowKey, rule) => {
    const problems = problemsOf({ ...base, rowKey });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`mapping.rowKey: ${rule}`);
  }); // prettier-ignore

  test.each(['${a}#', '#${a}#${b}', '${a|pad:3}${b|hash:2}${c}', '$$${a}', '${"".""}', '${a|default:"|}"}'])(
    '%s is taken',
    (rowKey) => {
      expect(problemsOf({ ...base, rowKey })).toEqual([]);
    },
  );
});

describe('a row key of options', () => {
  test.each<[string, unknown, string]>([
    ['neither template nor field', {}, 'mapping.rowKey: must have exactly one of template and field, got {}'],
    ['both', { template: '${a}', field: 'a', type: 'int64' }, 'must have exactly one of template and field'],
    ['a type without a field', { template: '${a}', type: 'int64' }, 'mapping.rowKey.type: applies to a key of one field only'],
    ['a field without a type', { field: 'a' }, 'mapping.rowKey.type: is needed for a key of one field, got nothing'],
    ['a policy without a template', { field: 'a', type: 'int64', onNull: 'reject' }, 'mapping.rowKey.onNull: applies to a template only'],
  ])('with %s is refused', (_name, rowKey, problem) => {
    expect(problemsOf({ ...base, rowKey }).join('\n')).toContain(problem);
  }); // prettier-ignore
});

describe('types', () => {
  const withColumn = (column: unknown): unknown => ({ ...base, families: { f: { columns: { c: column } } } });

  test.each<[unknown, string]>([
    ['decimal(0,0)', 'decimal needs a precision from 1 to 38 and a scale from 0 to the precision'],
    ['decimal(39,0)', 'decimal needs a precision from 1 to 38'],
    ['decimal(3,4)', 'a scale from 0 to the precision'],
    ['bigint', 'must be one of string, boolean, bytes, int8'],
    [{ type: 'string', unit: 'millis' }, 'c.unit: applies to the type timestamp only'],
    [{ type: 'date', truncateToMillis: false }, 'c.truncateToMillis: applies to the type timestamp only'],
    [{ type: 'json', encoding: 'text' }, 'c.encoding: does not apply to the type json'],
  ])('%j is refused', (column, problem) => {
    expect(problemsOf(withColumn(column)).join('\n')).toContain(problem);
  });

  test.each(['decimal(38,38)', 'decimal(1,0)', 'timestamp', 'interval-day-second', 'raw', 'json'])(
    '%s is taken',
    (type) => {
      expect(problemsOf(withColumn(type))).toEqual([]);
    },
  );
});

describe('what a mode has no use for is refused by its path', () => {
  const integer = { f: { columns: { n: 'int64' } } };
  const summed = { f: { aggregate: 'int64-sum', columns: { n: 'int64' } } };
  const conditional = { predicate: { type: 'row-exists' }, then: [{ type: 'delete-row' }] };
  const operation = { field: 'op', values: { d: 'delete-row' } };
  const dynamic = { f: { dynamic: { field: 'm', type: 'int64' } } };
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['upsert', { families, conditional }, 'conditional: does not apply to the mode upsert'],
    ['upsert', { families: summed }, 'families.f.aggregate: does not apply to the mode upsert'],
    ['upsert', {}, 'families: must declare at least one column, got nothing'],
    ['upsert', { families: { f: {} } }, 'families: must declare at least one column'],
    ['keep-latest', { families: { f: { columns: { s: 'string' }, dynamic: { field: 'm', type: 'int64' } } } }, 'families.f.dynamic: excludes columns of the same family'],
    ['aggregate', { families: integer }, 'families.f.aggregate: every family needs it in the mode aggregate, got nothing'],
    ['aggregate', { families: summed, nullString: 'null' }, 'nullString: does not apply to the mode aggregate'],
    ['aggregate', { families: summed, operation }, 'operation: does not apply'],
    ['aggregate', { families: summed, onNull: 'encode' }, 'onNull: must be one of ignore, reject in the mode aggregate, got "encode"'],
    ['aggregate', { families: { f: { aggregate: 'int64-sum', columns: { n: 'double' } } } }, 'columns.n: must be one of int8, int16, int32, int64'],
    ['aggregate', { families: { f: { aggregate: 'int64-sum', columns: { n: { type: 'int64', onNull: 'delete' } } } } }, 'columns.n.onNull: must be one of ignore, reject'],
    ['aggregate', { families: { f: { aggregate: 'int64-sum', columns: { n: { type: 'int64', encoding: 'text' } } } } }, 'columns.n.encoding: does not apply to the mode aggregate'],
    ['aggregate', { families: { f: { aggregate: 'int64-sum', dynamic: { field: 'm', type: 'int64' } } } }, 'dynamic: applies to the modes upsert, keep-latest, insert-if-absent only'],
    ['aggregate', { families: { f: { aggregate: 'int64-avg', columns: { n: 'int64' } } } }, 'aggregate: must be one of int64-sum, int64-min, int64-max, int64-hll'],
    ['insert-if-absent', { families, operation }, 'operation: does not apply'],
    ['insert-if-absent', { families, onNull: 'delete' }, 'onNull: must be one of encode, ignore, reject'],
    ['replace-if-newest', { families: dynamic }, 'dynamic: applies to the modes'],
    ['append', { families, timestamp: 'publishTime' }, 'timestamp: does not apply to the mode append'],
    ['append', { families: integer }, 'columns.n: must be one of string, bytes, raw in the mode append'],
    ['increment', { families: { f: { columns: { n: 'int32' } } } }, 'columns.n: must be one of int64 in the mode increment'],
    ['increment', { families: integer, timestamp: { field: 't', unit: 'millis', truncateToMillis: false } }, 'timestamp: does not apply to the mode increment'],
    ['conditional', { conditional, families }, 'families: does not apply to the mode conditional'],
    ['conditional', { conditional, nullString: 'null' }, 'nullString: does not apply'],
    ['conditional', { conditional, timestamp: 'publishTime' }, 'timestamp: does not apply'],
    ['conditional', {}, 'conditional: is needed in the mode conditional, got nothing'],
  ])('%s: %j', (writeMode, options, problem) => {
    expect(problemsOf({ rowKey: '${key}', writeMode, ...options }).join('\n')).toContain(problem);
  }); // prettier-ignore

  test.each(['aggregate', 'insert-if-absent', 'replace-if-newest', 'append', 'increment', 'conditional'])(
    '%s has no deletion of columns to bound',
    (writeMode) => {
      const problems = problemsOf({ rowKey: '${key}', writeMode, columnDeletes: 'all-versions' });
      expect(problems).toContain(`mapping.columnDeletes: does not apply to the mode ${writeMode}, got "all-versions"`);
    },
  );

  test('increment takes nullString, which has no effect there', () => {
    expect(problemsOf({ rowKey: '${key}', writeMode: 'increment', nullString: '', families: integer })).toEqual([]);
  });
});

describe('conditional', () => {
  const set = { type: 'set-cell', family: 'f', qualifier: 'q', value: { utf8: 'x' } };
  const request = (predicate: unknown, ...then: readonly unknown[]): unknown => ({
    rowKey: '${key}',
    writeMode: 'conditional',
    conditional: { predicate, then },
  });
  const exists = { type: 'row-exists' };
  test.each<[unknown, string]>([
    [request(exists), 'conditional: must have a mutation in then or otherwise'],
    [request({ ...exists, family: 'f' }, set), 'predicate.family: does not apply to row-exists'],
    [request({ type: 'cell-exists', family: 'f' }, set), 'predicate: must have exactly one of qualifier and qualifierBase64'],
    [request({ type: 'cell-exists', qualifier: 'q' }, set), 'predicate.family: must be the name of a family, got nothing'],
    [request({ type: 'cell-exists', family: 'f', qualifier: '', qualifierBase64: '' }, set), 'exactly one of qualifier'],
    [request({ type: 'latest-cell-value-equals', family: 'f', qualifier: 'q' }, set), 'predicate.value: must have exactly one of field, utf8, base64, int64'],
    [request(exists, { ...set, value: { utf8: 'x', int64: 1 } }), 'then[0].value: must have exactly one of'],
    [request(exists, { ...set, value: { base64: 'AB==' } }), 'value.base64: must be canonical padded Base64'],
    [request(exists, { ...set, value: { int64: '9223372036854775808' } }), 'value.int64: must be an integer from -9223372036854775808'],
    [request(exists, { ...set, value: { int64: 2 ** 53 } }), 'value.int64: must be an integer; quote it beyond 2^53'],
    [request(exists, { ...set, value: { int64: '1_000' } }), 'value.int64: must be an integer'],
    [request(exists, { ...set, value: { field: 'a' } }), 'value.type: is needed for a field'],
    [request(exists, { ...set, value: { utf8: 'a', type: 'string' } }), 'value.type: applies to a field only'],
    [request(exists, { ...set, timestamp: { micros: -2 } }), 'timestamp.micros: must be an integer from -1'],
    [request(exists, { ...set, timestamp: { field: 'a' } }), 'timestamp.unit: is needed for a field'],
    [request(exists, { ...set, timestamp: { micros: 1, field: 'a', unit: 'micros' } }), 'timestamp: must have exactly one of micros and field'],
    [request(exists, { ...set, start: { micros: 1 } }), 'then[0].start: does not apply to set-cell'],
    [request(exists, { ...set, type: 'add-to-cell', value: { int64: 1 } }), 'timestamp: is needed for add-to-cell'],
    [request(exists, { ...set, type: 'add-to-cell', value: { field: 'a', type: 'int32' }, timestamp: { micros: 0 } }), 'value.type: must be int64 or bytes for add-to-cell'],
    [request(exists, { ...set, type: 'merge-to-cell', timestamp: { micros: -1 } }), 'timestamp.micros: must be an integer from 0'],
    [request(exists, { type: 'delete-cells', family: 'f', qualifier: 'q', end: { micros: 0 } }), 'end.micros: must be an integer from 1'],
    [request(exists, { type: 'delete-cells', family: 'f', qualifier: 'q', start: { micros: 5 }, end: { micros: 5 } }), 'end: must be above the start 5'],
    [request(exists, { type: 'delete-cells', family: 'f', qualifier: 'q', value: { utf8: '' } }), 'value: does not apply to delete-cells'],
    [request(exists, { type: 'delete-family', family: 'a:b' }), 'family: must be the name of a family'],
    [request(exists, { type: 'delete-row', family: 'f' }), 'family: does not apply to delete-row'],
    [request(exists, { type: 'drop' }), 'then[0].type: must be one of set-cell, add-to-cell'],
  ])('%j is refused', (options, problem) => {
    expect(problemsOf(options).join('\n')).toContain(problem);
  }); // prettier-ignore

  test('100,000 mutations are taken and one more is not', () => {
    const many = (count: number): unknown => request(exists, ...Array.from({ length: count }, () => ({ type: 'delete-row' })));
    expect(problemsOf(many(100_000))).toEqual([]);
    expect(problemsOf(many(100_001)).join()).toContain('mapping.conditional.then: must be at most 100000 long');
  }); // prettier-ignore
});

describe('operations, conditions and destinations', () => {
  test.each<[Readonly<Record<string, unknown>>, string]>([
    [{ operation: { field: 'op', values: {} } }, 'operation.values: must list at least one value'],
    [{ operation: { field: 'op', values: { d: { deleteFamilies: ['x'] } } } }, 'values.d.deleteFamilies[0]: must be a declared family (f), got "x"'],
    [{ operation: { field: 'op', values: { d: { deleteColumns: ['x:y', 'f'] } } } }, 'values.d.deleteColumns[1]: must be family:qualifier, got "f"'],
    [{ operation: { field: 'op', values: { d: {} } } }, 'values.d: must have exactly one of deleteFamilies and deleteColumns'],
    [{ operation: { field: 'op', values: { d: 'erase' } } }, 'values.d: must be one of write, skip, delete-row'],
    [{ skipWhen: [{ field: 'a', equals: 1, is: 'null' }] }, 'skipWhen[0]: must have exactly one of equals'],
    [{ skipWhen: [{ field: 'a', in: ['x', 1e-7] }] }, 'skipWhen[0].in: must be a number of plain notation; quote its digits, got 1e-7'],
    [{ skipWhen: [{ field: 'a', is: 'nil' }] }, 'skipWhen[0].is: must be one of null, missing, empty'],
    [{ destination: { template: 'a-${b}', tables: ['a-1'], pattern: 'a' } }, 'destination: must have exactly one of tables and pattern'],
    [{ destination: { template: 'a-${b}', pattern: 'a' } }, 'destination.maxTables: is needed with pattern'],
    [{ destination: { template: 'a-${b}', pattern: '(', maxTables: 2 } }, 'destination.pattern: must be a regular expression'],
    [{ destination: { template: 'a-${b}', pattern: '(?=a)a', maxTables: 2 } }, 'destination.pattern: must be a regular expression of RE2, which has no look-around and no back reference'],
    [{ destination: { template: 'a-${b}', pattern: String.raw`(a)\1`, maxTables: 2 } }, 'destination.pattern: must be a regular expression of RE2'],
    [{ destination: { template: 'a-${b}', pattern: 'a', maxTables: 1001 } }, 'destination.maxTables: must be at most 1000'],
    [{ destination: { template: 'a-${b}', tables: ['a-1'], maxTables: 1 } }, 'destination.maxTables: applies to pattern only'],
    [{ destination: { template: 'a-${b}', tables: ['a-1', 'p/t', '-x', 'a-1'] } }, 'destination.tables[1]: must not contain "/"'],
    [{ destination: { template: 'a-${b}', tables: ['a-1', '-x', 'a-1'] } }, 'destination.tables[2]: must not be named twice'],
    [{ destination: { template: 'a', tables: ['a'] } }, 'destination.template: must name at least one field'],
    [{ timestamp: { field: 'ts' } }, 'timestamp.unit: must be one of micros, millis, seconds, rfc3339, got nothing'],
    [{ timestamp: 'now' }, 'timestamp: must be publishTime, or an object of options'],
  ])('%j is refused', (options, problem) => {
    expect(problemsOf({ ...base, ...options }).join('\n')).toContain(problem);
  }); // prettier-ignore
});

describe('schemas', () => {
  const avro = JSON.stringify({
    type: 'record',
    name: 'R',
    fields: [
      { name: 'key', type: 'string' },
      { name: 's', type: ['null', 'string'] },
      { name: 'in', type: ['null', { type: 'record', name: 'In', fields: [{ name: 'm', type: { type: 'map', values: 'long' } }, { name: 'l', type: { type: 'array', items: 'R' } }] }] },
    ],
  }); // prettier-ignore
  const proto = `syntax = "proto3"; package p; import "google/protobuf/timestamp.proto"; import "google/protobuf/struct.proto";
    message R { string key = 1; string s = 2; In in = 3; map<string, int64> m = 4; repeated R l = 5; google.protobuf.Timestamp at = 6; google.protobuf.Struct open = 7; }
    message In { int64 n = 1; }`;
  const withFormat = (format: unknown, columns: unknown = { s: 'string' }): unknown => ({
    rowKey: '${key}',
    format,
    families: { f: { columns } },
  });

  test('the text is kept, and the only message of a file is found', () => {
    const one = 'syntax = "proto3"; package p; message Only { string key = 1; string s = 2; }';
    const { mapping } = resolveMapping(withFormat({ type: 'protobuf', schema: one }), 'mapping');
    expect(mapping?.format).toEqual({ type: 'protobuf', encoding: 'attribute', schema: one, message: 'p.Only', revisions: {} });
  }); // prettier-ignore

  test('a file is read by whoever resolves the mapping', () => {
    const options = withFormat({ type: 'avro', encoding: 'json', schemaFile: 'r.avsc', revisions: { '0000aaaa': { schemaFile: 'old.avsc' } } }); // prettier-ignore
    const files: Readonly<Record<string, string>> = { 'r.avsc': avro, 'old.avsc': avro };
    const { mapping } = resolveMapping(options, 'mapping', (file) => files[file] ?? '');
    expect(mapping?.format).toEqual({ type: 'avro', encoding: 'json', schema: avro, revisions: { '0000aaaa': avro } });
    expect(problemsOf(options)).toContain('mapping.format.schemaFile: must be a file that can be read: schema files are not read here, got "r.avsc"'); // prettier-ignore
  });

  test.each<[string, unknown, string]>([
    ['no schema', { type: 'avro' }, 'format: must have exactly one of schema and schemaFile'],
    ['Avro that is no JSON', { type: 'avro', schema: '{' }, 'format.schema: must be a schema of avro: '],
    ['Avro that is no record', { type: 'avro', schema: '"long"' }, 'the outermost type must be a record'],
    ['Avro with an unknown type', { type: 'avro', schema: '{"type":"record","name":"R","fields":[{"name":"a","type":"lung"}]}' }, 'must be a schema of avro'],
    ['Protobuf with a syntax error', { type: 'protobuf', schema: 'message {' }, 'format.schema: must be a schema of protobuf: '],
    ['Protobuf with two messages and no choice', { type: 'protobuf', schema: proto }, '"message" must name one of the messages of the file (p.R, p.In)'],
    ['Protobuf without the message', { type: 'protobuf', schema: proto, message: 'p.X' }, 'must be a schema of protobuf: '],
    ['Protobuf that imports', { type: 'protobuf', schema: 'syntax = "proto3"; import "other.proto"; message R { string key = 1; }' }, 'import of "other.proto" is not possible'],
    ['a message for Avro', { type: 'avro', schema: avro, message: 'R' }, 'format.message: does not apply to the format avro'],
    ['a schema for JSON', { type: 'json', schema: '{}' }, 'format.schema: does not apply to the format json'],
    ['a revision id that is none', { type: 'avro', schema: avro, revisions: { v1: { schema: avro } } }, 'must be a revision id of 8 hexadecimal digits, got "v1"'],
    ['an encoding that is none', { type: 'avro', schema: avro, encoding: 'text' }, 'format.encoding: must be one of binary, json, attribute'],
  ])('%s is refused', (_name, format, problem) => {
    expect(problemsOf(withFormat(format)).join('\n')).toContain(problem);
  }); // prettier-ignore

  test.each<[string, unknown]>([
    ['Avro', { type: 'avro', schema: avro }],
    ['Protobuf', { type: 'protobuf', schema: proto, message: 'p.R' }],
  ])('%s: a path that no record has is found before the first record', (_name, format) => {
    const good = { s: 'string', a: { type: 'json', field: 'in' }, b: { type: 'raw', field: '@data' } };
    expect(problemsOf(withFormat(format, good))).toEqual([]);
    expect(
      problemsOf(withFormat(format, { s: 'string', x: { type: 'int64', field: 'in.gone' }, y: 'string' })),
    ).toEqual([
      'mapping.families.f.columns.x.field: must be a field of the schema, got "in.gone"',
      'mapping.families.f.columns.y: must be a field of the schema, got "y"',
    ]);
  });

  test.each<[string, unknown, readonly string[], readonly string[]]>([
    ['Avro', { type: 'avro', schema: avro }, ['in.m.any', 'in.l.0.s', 'in.l'], ['in.l.x', 's.t', 'in.m.any.more']],
    ['Protobuf', { type: 'protobuf', schema: proto, message: 'p.R' }, ['m.any', 'l.0.s', 'open.any.thing', 'at', 'l'], ['l.x', 's.t', 'at.seconds', 'm.any.more']],
  ])('%s: maps, lists and nested records are followed', (_name, format, has, hasNot) => {
    const problems = (path: string): readonly string[] => problemsOf(withFormat(format, { c: { type: 'json', field: path } }));
    expect(has.flatMap(problems)).toEqual([]);
    expect(hasNot.map((path) => problems(path).length)).toEqual(hasNot.map(() => 1));
  }); // prettier-ignore
});

test('editors get a JSON Schema with a description of every option', () => {
  const schema = z.toJSONSchema(mappingSchema, { io: 'input' });
  expect(schema.properties).toHaveProperty('rowKey');
  const described = Object.values(schema.properties ?? {}).every(
    (option) => typeof option === 'object' && typeof option.description === 'string',
  );
  expect(described).toBe(true);
});
