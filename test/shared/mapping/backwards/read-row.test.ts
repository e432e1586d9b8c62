import { expect, test } from 'vitest';
import { compileReadRow } from '../../../../shared/mapping/backwards/read-row.ts';
import { projectionOf } from '../../../../shared/mapping/backwards/projection.ts';
import { cellsPerColumn, chain, familyEquals, interleave } from '../../../../shared/model/filter/filter.ts';
import { cell, rowOf } from '../../scan/forms/rows.ts';
import { resolved } from '../mappings.ts';

const read = (mapping: object, row: ReturnType<typeof rowOf>, trailing: 'ignore' | 'reject' = 'ignore'): unknown =>
  JSON.parse(compileReadRow(resolved(mapping), trailing)(row));

const int32 = (value: number, more = ''): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return Buffer.concat([bytes, Buffer.from(more)]);
};

const AGES = { rowKey: '${id}', families: { cf: { columns: { age: 'int32', name: 'string' } } } };

test('the first cell of a column counts, which is the newest, wherever the others stand', () => {
  const row = rowOf(
    'k',
    cell('cf', 'age', 3n, int32(3)),
    cell('cf', 'name', 2n, 'Ada'),
    cell('cf', 'age', 9n, int32(9)),
    cell('cf', 'name', 1n, 'Bea'),
  );
  expect(read(AGES, row)).toEqual({ id: 'k', age: 3, name: 'Ada' });
});

test('columns and families that the mapping does not declare are ignored, and a column without a cell is null', () => {
  const row = rowOf('k', cell('cf', 'other', 1n, 'x'), cell('af', 'age', 1n, 'x'), cell('cf', 'name', 1n, 'Ada'));
  expect(read(AGES, row)).toEqual({ id: 'k', age: null, name: 'Ada' });
});

test('the object of a family without a cell is null', () => {
  const mapping = {
    rowKey: '${id}',
    families: {
      a: { field: 'home', columns: { town: 'string' } },
      b: { field: 'work', columns: { town: 'string', tags: 'json' } },
    },
  };
  const row = rowOf('k', cell('b', 'town', 1n, 'Ulm'), cell('b', 'tags', 1n, '[1]'));
  expect(read(mapping, row)).toEqual({ id: 'k', home: null, work: { town: 'Ulm', tags: [1] } });
});

test('an empty cell is null unless its type is a string, whose null is nullString; where nulls are refused it is neither', () => {
  const row = rowOf('k', cell('cf', 'age', 1n, ''), cell('cf', 'name', 1n, ''));
  expect(read(AGES, row)).toEqual({ id: 'k', age: null, name: '' });
  const literal = rowOf('k', cell('cf', 'name', 1n, 'null'));
  expect(read(AGES, literal)).toEqual({ id: 'k', age: null, name: null });
  expect(read({ ...AGES, nullString: '-' }, literal)).toEqual({ id: 'k', age: null, name: 'null' });
  expect(read({ ...AGES, onNull: 'reject' }, literal)).toEqual({ id: 'k', age: null, name: 'null' });
  expect(() => read({ ...AGES, onNull: 'reject' }, row)).toThrow('cf:age: must be 4 bytes, got 0');
});

test('bytes behind a value of fixed width are ignored or refused, as the option says; a boolean has none', () => {
  const row = rowOf('k', cell('cf', 'age', 1n, int32(7, 'xx')));
  expect(read(AGES, row)).toMatchObject({ age: 7 });
  expect(() => read(AGES, row, 'reject')).toThrow(
    'cf:age: must be 4 bytes, got 6; the value has 6 bytes, and another encoding may have written it',
  );
  const flags = { rowKey: '${id}', families: { cf: { columns: { on: 'boolean' } } } };
  expect(() => read(flags, rowOf('k', cell('cf', 'on', 1n, 'ab')))).toThrow('cf:on: must be 1 byte, got 2');
});

test('bytes behind a row key of fixed width are ignored or refused, too', () => {
  const mapping = { ...AGES, rowKey: { field: 'id', type: 'int32' } };
  const row = rowOf(int32(7, 'xx'), cell('cf', 'name', 1n, 'Ada'));
  expect(read(mapping, row)).toMatchObject({ id: 7 });
  expect(() => read(mapping, row, 'reject')).toThrow('row key: must be 4 bytes, got 6');
});

test.each([
  ['too short', 'age: int32', int32(1).subarray(1), 'cf:age: must be 4 bytes, got 3; the value has 3 bytes'],
  [
    'too large for its decimal',
    'age: decimal(3,1)',
    Buffer.from('0000000003e8', 'hex'),
    'cf:age: must be a decimal of at most 3 digits',
  ],
  ['no UTF-8', 'age: string', Buffer.from([0xff]), 'cf:age: must be UTF-8'],
  ['bytes that JSON has no text for', 'age: raw', Buffer.from([0xff]), 'cf:age: must be UTF-8'],
  ['more than a day', 'age: time', int32(86_400_000), 'cf:age: must be a time of day'],
])('a cell that is %s is refused by its column, with its bytes counted', (_what, column, value, message) => {
  const [name = '', type = ''] = column.split(': ');
  const mapping = { rowKey: '${id}', families: { cf: { columns: { [name]: type } } } };
  expect(() => read(mapping, rowOf('k', cell('cf', 'age', 1n, value)))).toThrow(message);
});

test('a qualifier that is no text names no member, and its row is refused', () => {
  const mapping = { rowKey: '${id}', families: { cf: { dynamic: { field: 'tags', type: 'string' } } } };
  expect(read(mapping, rowOf('k', cell('cf', '__proto__', 1n, 'x'), cell('cf', '__proto__', 0n, 'y')))).toEqual(
    JSON.parse('{"id":"k","tags":{"__proto__":"x"}}'),
  );
  expect(() => read(mapping, rowOf('k', cell('cf', Buffer.from([0xff]), 1n, 'x')))).toThrow(
    String.raw`cf:\xff: must have a qualifier in UTF-8, which names a member, got 1 other bytes`,
  );
});

test.each([
  ['has no delimiter', '${a}#${b}', 'ab'],
  ['is not as wide', '${a|pad:3}${b}', '12'],
  ['has another start', 'user#${a}', 'item#1'],
  ['ends otherwise', '${a}#end', 'a#start'],
  ['has a salt of another value', '${a|salt:2}${a}', '9a'],
  ['has an empty field', '${a}#${b}', '#b'],
])('a row whose key %s is refused: the record would write another row', (_what, rowKey, key) => {
  const row = rowOf(key, cell('cf', 'name', 1n, 'Ada'));
  expect(() => read({ ...AGES, rowKey }, row)).toThrow(/row key: must be|must not be empty/);
});

test('a field of the key that a column holds too has the type of the column, and the key must agree', () => {
  const mapping = { rowKey: 'u#${age}', families: AGES.families };
  expect(read(mapping, rowOf('u#7', cell('cf', 'age', 1n, int32(7))))).toMatchObject({ age: 7 });
  expect(read(mapping, rowOf('u#7', cell('cf', 'name', 1n, 'Ada')))).toMatchObject({ age: '7' });
  expect(() => read(mapping, rowOf('u#7', cell('cf', 'age', 1n, int32(8))))).toThrow(
    'row key: must be what the mapping makes by its template and the fields that columns hold, got "u#7" of 3 bytes',
  );
});

test.each([
  ['micros', 1_769_817_600_123_000],
  ['millis', 1_769_817_600_123],
  ['seconds', 1_769_817_600.123],
  ['rfc3339', '2026-01-31T00:00:00.123Z'],
])('the timestamp of a record is that of its newest cell, in %s', (unit, at) => {
  const mapping = { ...AGES, timestamp: { field: 'at', unit } };
  const row = rowOf('k', cell('cf', 'age', 1000n, int32(1)), cell('cf', 'name', 1_769_817_600_123_000n, 'Ada'));
  expect(read(mapping, row)).toMatchObject({ at });
});

test('a mapping reads the newest cells of its own families, and of no other', () => {
  const one = projectionOf(resolved(AGES));
  expect(one).toEqual(chain(familyEquals('cf'), cellsPerColumn(1)));
  const families = { b: { columns: { x: 'raw' } }, none: { columns: {} }, a: { columns: { y: 'raw' } } };
  expect(projectionOf(resolved({ ...AGES, families }))).toEqual(
    chain(interleave(familyEquals('b'), familyEquals('a')), cellsPerColumn(1)),
  );
});
