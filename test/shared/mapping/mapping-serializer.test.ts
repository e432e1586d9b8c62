import { expect, test } from 'vitest';
import { loadMappingSerializer } from '../../../shared/mapping/mapping-serializer.ts';
import { resolved } from './mappings.ts';
import { PUBLISH_TIME_MICROS, recordOf } from './records.ts';

const base = { rowKey: '${id}', families: { f: { columns: { s: 'string' } } } };
const context = { publishTimeMicros: PUBLISH_TIME_MICROS };

test('a serializer names the table, serializes and skips', async () => {
  const destination = { template: 'orders-${region}', tables: ['orders-eu', 'orders-us'] };
  const { prepare } = await loadMappingSerializer(
    resolved({ ...base, destination, skipWhen: [{ field: 'id', equals: 0 }] }),
  );
  const prepared = prepare(recordOf({ id: 1, region: 'us', s: 'x' }), context);
  expect(prepared?.table).toEqual({ table: 'orders-us' });
  expect(prepared?.serialize()?.rowKey.toString()).toBe('1');
  expect(prepare(recordOf({ id: 0 }), context)).toBeNull();
});

test('it names no table without a destination', async () => {
  const { prepare } = await loadMappingSerializer(resolved(base));
  expect(prepare(recordOf({ id: 1, s: 'x' }), context)).not.toHaveProperty('table');
});

test('a record that is refused for its cells has its table named already', async () => {
  const destination = { template: 'orders-${region}', tables: ['orders-eu'] };
  const { prepare } = await loadMappingSerializer(resolved({ ...base, destination }));
  const prepared = prepare(recordOf({ id: 1, region: 'eu', s: 5 }), context);
  expect(prepared?.table).toEqual({ table: 'orders-eu' });
  expect(() => prepared?.serialize()).toThrow('s: must be a text, got a number');
});

test('a mode that sends requests refuses every record of a sink that writes entries', async () => {
  const mapping = resolved({ rowKey: '${id}', writeMode: 'increment', families: { f: { columns: { n: 'int64' } } } });
  const prepared = (await loadMappingSerializer(mapping)).prepare(recordOf({ id: 1, n: 2 }), context);
  expect(() => prepared?.serialize()).toThrow(
    'mapping: the mode makes a readModifyWrite request, which this sink cannot send',
  );
});
