import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configOf, run } from './fakes.ts';

const mapping = {
  rowKey: '${@attributes.region|default:none}#${id|pad:4}#${@orderingKey|default:-}#${@messageId}',
  families: { f: { columns: { total: 'int64', note: { type: 'string', onNull: 'ignore' } } } },
  skipWhen: [{ field: 'total', equals: 0 }],
};
const config = configOf({ serializer: undefined, mapping, framing: 'ndjson' });
const orders = '{"id":7,"total":10000000001922600,"note":"né"}\n{"id":8,"total":0,"note":null}\n';

test('every record shows its table, its escaped row key and its mutations, or that it is skipped', async () => {
  const argv = ['map', 'orders', 'orders.ndjson', '--publish-time', '2026-01-31T12:00:00.0019Z'];
  const { code, out, err } = await run(argv, { config, files: { 'orders.ndjson': orders } });
  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    'record 0',
    '  table    p.i.t',
    '  row key  "none#0007#-#sample"',
    String.raw`  set      f:total = "\x00#\x86\xf2o\xdeV(" @ 1769860800001000 µs`,
    String.raw`  set      f:note = "n\xc3\xa9" @ 1769860800001000 µs`,
    'record 1',
    '  skipped: acknowledged, and nothing is written',
  ]);
  expect(err).toBe('written 1, skipped 1, refused 0');
});

test('attributes, ordering key and message id are those of the command line, and the input may be standard input', async () => {
  const options = ['--attribute', 'region=eu', '--ordering-key', 'o', '--message-id', '42'];
  const { out } = await run(['map', 'orders', ...options], { config, stdin: '{"id":1,"total":1,"note":null}' });
  expect(out).toContain('row key  "eu#0001#o#42"');
});

test('without a publish time the cells take the time of the command', async () => {
  const { out } = await run(['map', 'orders', '-'], { config, stdin: '{"id":1,"total":1,"note":null}' });
  expect(out).toContain('@ 1767225600000000 µs');
});

test('a refused record is told by its path and rule, the others are shown, and the exit code is 1', async () => {
  const { code, out, err } = await run(['map', 'orders'], {
    config,
    stdin: `{"id":1,"total":"secret","note":""}\n${orders}`,
  });
  expect(code).toBe(1);
  expect(out.split('\n').slice(0, 3)).toEqual([
    'record 0',
    '  refused  total: must be an integer from −2^63 to 2^63 − 1, got a text',
    'record 1',
  ]);
  expect(out).not.toContain('secret');
  expect(err).toBe('written 1, skipped 1, refused 1');
});

test('a message whose frame is broken is one refused record', async () => {
  const array = configOf({ serializer: undefined, mapping, framing: 'json-array' });
  const { code, out } = await run(['map', 'orders'], { config: array, stdin: '{"id":1}' });
  expect(code).toBe(1);
  expect(out).toMatch(/^record 0\n {2}refused {2}message: must be one JSON array/);
});

test('a destination is shown by its full name, and a record that is not for any table waits', async () => {
  const destination = { template: 'd-${id}', pattern: 'd-.*', maxTables: 1 };
  const many = configOf({ serializer: undefined, mapping: { ...mapping, destination }, framing: 'ndjson' });
  const stdin = '{"id":1,"total":1,"note":""}\n{"id":2,"total":1,"note":""}';
  const { code, out } = await run(['map', 'orders'], { config: many, stdin });
  expect(code).toBe(1);
  expect(out).toContain('table    p.i.d-1');
  expect(out).toContain('waits    destination: an instance writes at most 1 table');
});

test('the attributes that Pub/Sub sets on topics with a schema can be given', async () => {
  const schema = { type: 'record', name: 'r', fields: [{ name: 'id', type: 'long' }] };
  const avro = {
    format: { type: 'avro', schema: JSON.stringify(schema) },
    rowKey: '${id}',
    families: { f: { columns: { id: 'int64' } } },
  };
  const given = { config: configOf({ serializer: undefined, mapping: avro }), stdin: '{"id":5}' };
  const { code, out } = await run(['map', 'orders', '-a', 'googclient_schemaencoding=JSON'], given);
  expect(code).toBe(0);
  expect(out).toContain('row key  "5"');
  expect((await run(['map', 'orders'], given)).out).toContain('refused');
});

describe('pipelines without a mapping', () => {
  test('an entry is shown as it would be written', async () => {
    const entry = { rowKey: 'az==', mutations: [{ deleteFromRow: {} }] };
    const { code, out } = await run(['map', 'orders'], { config: configOf(), stdin: JSON.stringify(entry) });
    expect(code).toBe(0);
    expect(out).toBe('record 0\n  table    p.i.t\n  row key  "k"\n  delete   row');
  });

  test('a record that is no entry is refused', async () => {
    const { code, out } = await run(['map', 'orders'], { config: configOf(), stdin: '{"rowKey":5}' });
    expect(code).toBe(1);
    expect(out).toContain('  refused  ');
  });

  const module = (name: string): string =>
    configOf({ serializer: { module: join(import.meta.dirname, '../../support/modules', name) } });

  test('a module is loaded and run; what it throws refuses the record', async () => {
    const { code, out } = await run(['map', 'orders'], { config: module('throws-serializer.ts'), stdin: 'boom' });
    expect(code).toBe(1);
    expect(out).toBe('record 0\n  refused  the serializer threw RangeError: not this one');
    const skipped = await run(['map', 'orders'], { config: module('throws-serializer.ts'), stdin: 'skip' });
    expect(skipped.code).toBe(0);
    expect(skipped.out).toBe('record 0\n  skipped: acknowledged, and nothing is written');
  });

  test('a module that does not load is told without a stack', async () => {
    const { code, err } = await run(['map', 'orders'], { config: module('no-default.ts'), stdin: 'x' });
    expect(code).toBe(1);
    expect(err).toContain('serializer.module: must have a default export');
  });
});

test.each([
  [['map', 'orders', '--publish-time', 'yesterday'], '--publish-time: must be an RFC 3339 time with an offset'],
  [['map', 'orders', '--attribute', 'novalue'], '--attribute: must be name=value'],
  [['map', 'other'], 'has no pipeline "other" (there is: orders)'],
  [['map', 'orders', 'absent.json'], 'ENOENT'],
  [['map', 'orders'], 'the input holds no record'],
])('%j is refused', async (argv, message) => {
  const { code, out, err } = await run(argv, { config });
  expect(code).toBe(message.startsWith('--') ? 2 : 1);
  expect(out).toBe('');
  expect(err).toContain(message);
});

test('an input larger than a message may be is not read to its end', async () => {
  const { code, err } = await run(['map', 'orders'], { config, stdin: ' '.repeat(10_000_001) });
  expect(code).toBe(1);
  expect(err).toContain('larger than a message may be (10000000 bytes)');
});
