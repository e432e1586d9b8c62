import { describe, expect, test } from 'vitest';
import { RecordError, RedeliverError } from '../../../shared/base/errors.ts';
import type { InputRecord } from '../../../shared/model/record.ts';
import { compiled, mapRecord } from './mappings.ts';
import { jsonRecord, PUBLISH_TIME_MICROS, recordOf } from './records.ts';

const base = { rowKey: '${id}', families: { f: { columns: { s: { type: 'string', onMissing: 'null' } } } } };

describe('timestamps', () => {
  /** The timestamps of all cells of a record. */
  async function stamps(timestamp: unknown, record: InputRecord): Promise<readonly bigint[]> {
    const columns = { a: 'string', b: { type: 'string', field: 'a' } };
    const write = await mapRecord({ rowKey: '${@messageId}', timestamp, families: { f: { columns } } }, record);
    const mutations = write?.kind === 'entry' ? write.entry.mutations : [];
    return mutations.flatMap((mutation) => (mutation.kind === 'setCell' ? [mutation.timestampMicros] : []));
  }
  const stamped = (at: string): InputRecord => jsonRecord(`{"a":"x","at":${at}}`);
  const from = (unit: string, more: object = {}): unknown => ({ field: 'at', unit, ...more });

  test('default to the publish time floored to milliseconds, the same for every cell and every redelivery', async () => {
    const floored = (PUBLISH_TIME_MICROS / 1000n) * 1000n;
    expect(await stamps(undefined, recordOf({ a: 'x' }))).toEqual([floored, floored]);
    expect(await stamps('publishTime', recordOf({ a: 'y' }))).toEqual([floored, floored]);
  });

  test.each<[string, string, bigint]>([
    ['micros', '1764455172123456', 1_764_455_172_123_456n],
    ['micros', '"1764455172123456"', 1_764_455_172_123_456n],
    ['micros', '0', 0n],
    ['micros', '9223372036854775807', 2n ** 63n - 1n],
    ['millis', '1690825888385', 1_690_825_888_385_000n],
    ['millis', '1690825888385.125', 1_690_825_888_385_125n],
    ['seconds', '1690825888.385999', 1_690_825_888_385_999n],
    ['rfc3339', '"2025-11-29T23:26:12.123456+01:00"', 1_764_455_172_123_456n],
  ])('%s %s, without loss', async (unit, at, micros) => {
    expect(await stamps(from(unit, { maxFuture: 'none' }), stamped(at))).toEqual([micros, micros]);
  });

  test.each<[string, string, string]>([
    ['micros', '-1', 'at: must not be before the epoch'],
    ['micros', '0.5', 'at: must not be finer than a microsecond'],
    ['micros', '9223372036854775808', 'at: must fit 64 bits in microseconds'],
    ['micros', '1e30', 'at: must fit 64 bits in microseconds'],
    ['millis', '"2025-11-29T22:26:12Z"', 'at: must be a count of millis since the epoch'],
    ['rfc3339', '1690825888385', 'at: must be RFC 3339 text with an offset, got a number'],
    ['rfc3339', '"2025-11-29 22:26:12"', 'at: must be RFC 3339'],
    ['rfc3339', '"2025-11-29T22:26:12.1234567Z"', 'at: must not be finer than a microsecond'],
    ['rfc3339', '"1969-12-31T23:59:59Z"', 'at: must not be before the epoch'],
    ['millis', 'null', 'at: must be there and not null, got null'],
    ['millis', 'true', 'at: must be a count of millis'],
  ])('%s refuses %s', async (unit, at, rule) => {
    await expect(stamps(from(unit), stamped(at))).rejects.toThrow(RecordError);
    await expect(stamps(from(unit), stamped(at))).rejects.toThrow(rule);
  });

  test('are truncated to milliseconds where that was asked for, not rounded', async () => {
    const truncating = { truncateToMillis: true };
    expect(await stamps(from('micros', truncating), stamped('1999'))).toEqual([1000n, 1000n]);
    expect(await stamps(from('micros'), stamped('1999'))).toEqual([1999n, 1999n]);
    expect(await stamps(from('rfc3339', truncating), stamped('"1970-01-01T00:00:00.0019999Z"'))).toEqual([
      1000n,
      1000n,
    ]);
  });

  test('fall back to the publish time where that was asked for', async () => {
    const [at] = await stamps(from('millis', { onNull: 'publish-time' }), recordOf({ a: 'x' }));
    expect(at).toBe((PUBLISH_TIME_MICROS / 1000n) * 1000n);
  });
});

describe('skipWhen', () => {
  test.each<[string, object, string, boolean]>([
    ['equals', { field: 'n', equals: 5 }, '{"id":1,"n":5.0}', true],
    ['equals', { field: 'n', equals: '5' }, '{"id":1,"n":50e-1}', true],
    ['equals', { field: 'n', equals: true }, '{"id":1,"n":true}', true],
    ['equals', { field: 'n', equals: 0.1 }, '{"id":1,"n":0.10}', true],
    ['equals', { field: 'n', equals: 5 }, '{"id":1,"n":6}', false],
    ['equals', { field: 'n', equals: 'x' }, '{"id":1}', false],
    ['equals', { field: 'n', equals: '10000000001922601' }, '{"id":1,"n":10000000001922600}', false],
    ['notEquals', { field: 'n', notEquals: 'x' }, '{"id":1}', true],
    ['in', { field: 'n', in: ['a', 'b'] }, '{"id":1,"n":"b"}', true],
    ['notIn', { field: 'n', notIn: ['a', 'b'] }, '{"id":1,"n":"b"}', false],
    ['is null', { field: 'n', is: 'null' }, '{"id":1,"n":null}', true],
    ['is null', { field: 'n', is: 'null' }, '{"id":1}', false],
    ['is missing', { field: 'n', is: 'missing' }, '{"id":1}', true],
    ['is missing', { field: 'n.m', is: 'missing' }, '{"id":1,"n":{}}', true],
    ['is empty', { field: 'n', is: 'empty' }, '{"id":1,"n":""}', true],
    ['is empty', { field: 'n', is: 'empty' }, '{"id":1,"n":[]}', true],
    ['is empty', { field: 'n', is: 'empty' }, '{"id":1,"n":{}}', true],
    ['is empty', { field: 'n', is: 'empty' }, '{"id":1,"n":0}', false],
  ])('%s %j of %s: %s', async (_name, condition, text, isSkipped) => {
    const write = await mapRecord({ ...base, skipWhen: [condition] }, jsonRecord(text));
    expect(write === null).toBe(isSkipped);
  });

  test('any of the conditions is enough', async () => {
    const skipWhen = [
      { field: 'a', equals: 1 },
      { field: 'b', equals: 1 },
    ];
    expect(await mapRecord({ ...base, skipWhen }, recordOf({ id: 1, b: 1 }))).toBeNull();
  });

  test('an attribute skips a control record that does not even decode', async () => {
    const skipWhen = [{ field: '@attributes.kind', equals: 'heartbeat' }];
    const heartbeat = recordOf('not JSON', { attributes: { kind: 'heartbeat' } });
    expect(await mapRecord({ ...base, skipWhen }, heartbeat)).toBeNull();
    await expect(mapRecord({ ...base, skipWhen }, recordOf('not JSON'))).rejects.toThrow('record: must be JSON');
  });

  test('a skipped record needs neither table nor key', async () => {
    const skipWhen = [{ field: 'kind', equals: 'control' }];
    const destination = { template: 'orders-${region}', tables: ['orders-eu'] };
    expect(await mapRecord({ ...base, skipWhen, destination }, recordOf({ kind: 'control' }))).toBeNull();
  });
});

describe('a destination per record', () => {
  const listed = { ...base, destination: { template: 'orders-${region}', tables: ['orders-eu', 'orders-us'] } };
  const patterned = { ...base, destination: { template: 'day-${@publishTime|utc:day}-${n}', pattern: String.raw`day-[\d-]+`, maxTables: 2 } }; // prettier-ignore
  const context = { publishTimeMicros: PUBLISH_TIME_MICROS };

  test('is one of the listed tables', async () => {
    const { prepare } = await compiled(listed);
    expect(prepare(recordOf({ id: 1, region: 'eu' }), context)?.table).toBe('orders-eu');
  });

  test.each<[string, unknown, string]>([
    [
      'another table',
      { id: 1, region: 'secret' },
      'destination: must be one of the tables of the mapping, got another',
    ],
    ['a name that no table has', { id: 1, region: 'a/secret' }, 'destination: must render to 1 to 50 letters'],
    ['a name that is too long', { id: 1, region: 'secret'.repeat(9) }, 'destination: must render to 1 to 50'],
    ['a missing field', { id: 1 }, 'region: must be there, got nothing'],
  ])('%s refuses the record', async (_name, record, rule) => {
    const { prepare } = await compiled(listed);
    expect(() => prepare(recordOf(record), context)).toThrow(RecordError);
    expect(() => prepare(recordOf(record), context)).toThrow(rule);
    expect(() => prepare(recordOf(record), context)).not.toThrow('secret');
  });

  // An engine that backtracks takes 2^49 steps for each of them, and so never gets to the end of this.
  test('a pattern over which others backtrack for weeks decides 1,000 records of 50 characters', async () => {
    const { prepare } = await compiled({
      ...base,
      destination: { template: '${name}', pattern: '^(a+)+$', maxTables: 2 },
    });
    const long = recordOf({ id: 'a', name: `${'a'.repeat(49)}-` });
    for (let count = 0; count < 1000; count += 1) {
      expect(() => prepare(long, context)).toThrow('must match the pattern of the mapping');
    }
  });

  test('matches the whole pattern, for no more tables than stated; one more is redelivered, not refused', async () => {
    const { prepare } = await compiled(patterned);
    const table = (n: unknown): string | undefined => prepare(recordOf({ id: 1, n }), context)?.table;
    expect(table(1)).toBe('day-2025-11-29-1');
    expect(() => table('x')).toThrow(RecordError);
    expect(() => table('x')).toThrow('must match the pattern of the mapping');
    expect(table(2)).toBe('day-2025-11-29-2');
    expect(() => table(3)).toThrow(RedeliverError);
    expect(() => table(3)).toThrow('an instance writes at most 2 tables (maxTables)');
    expect(table(1)).toBe('day-2025-11-29-1');
  });

  test('table and entry come from one decoding', async () => {
    const { prepare } = await compiled(listed);
    const record = recordOf({ id: 1, region: 'us', s: 'x' });
    let reads = 0;
    const counted: InputRecord = {
      ...record,
      get data() {
        reads += 1;
        return record.data;
      },
    };
    const prepared = prepare(counted, context);
    expect(prepared?.table).toBe('orders-us');
    expect(prepared?.write().kind).toBe('entry');
    expect(reads).toBe(1);
  });
});

describe('bad records', () => {
  test.each<[string, InputRecord, string]>([
    ['no JSON', recordOf('{'), 'record: must be JSON'],
    ['an empty record', recordOf(Buffer.alloc(0)), 'record: must be JSON'],
    ['a record that is a scalar', recordOf('5'), 'id: must be there, got nothing'],
    ['a record that is null', recordOf('null'), 'id: must not be null'],
    ['a list', recordOf('[1]'), 'id: must be there'],
    ['members of Object.prototype', recordOf('{"id":1,"s":{}}'), 's: must be a text, got an object'],
  ])('%s', async (_name, record, rule) => {
    await expect(mapRecord(base, record)).rejects.toThrow(RecordError);
    await expect(mapRecord(base, record)).rejects.toThrow(rule);
  });

  test('a field is never found on the prototype', async () => {
    for (const name of ['constructor', 'toString', '__proto__', 'length']) {
      await expect(mapRecord({ ...base, rowKey: `\${${name}}` }, recordOf({ id: 1 }))).rejects.toThrow('must be there');
      await expect(mapRecord({ ...base, rowKey: `\${l.${name}}` }, recordOf({ l: [1] }))).rejects.toThrow(
        'must be there',
      );
    }
    const write = await mapRecord({ ...base, rowKey: '${__proto__}' }, jsonRecord('{"__proto__":"own"}'));
    expect(write?.kind === 'entry' && write.entry.rowKey.toString()).toBe('own');
  });

  test('nesting that overflows a stack is a refusal', async () => {
    const depth = 100_000;
    const deep = `{"id":1,"s":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    await expect(mapRecord(base, jsonRecord(deep))).rejects.toThrow(RecordError);
  });
});

test('mapping two records at once mixes nothing, because a mapping keeps no record', async () => {
  const { prepare } = await compiled({ ...base, rowKey: '${id}' });
  const context = { publishTimeMicros: 0n };
  const [first, second] = [prepare(recordOf({ id: 'a' }), context), prepare(recordOf({ id: 'b' }), context)];
  const keys = [second, first].map((prepared) => {
    const write = prepared?.write();
    return write?.kind === 'entry' ? write.entry.rowKey.toString() : undefined;
  });
  expect(keys).toEqual(['b', 'a']);
});
