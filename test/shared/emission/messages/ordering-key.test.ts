import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowKeyAttribute } from '../../../../shared/emission/messages/attributes.ts';
import { groupOf, orderingKeyOf } from '../../../../shared/emission/messages/ordering-key.ts';

test('without ordering keys no row has one', () => {
  expect(orderingKeyOf('none')(Buffer.from('row'))).toBeUndefined();
});

test.each([
  ['text', Buffer.from('rów'), 'rów'],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0x00]), '/wA='],
  ['1,024 bytes', Buffer.alloc(1024, 'k'), 'k'.repeat(1024)],
  ['1,025 bytes', Buffer.alloc(1025, 'k'), '5d1bdf0a'],
])('a row is its own ordering key: %s', (_, rowKey, key) => {
  const got = orderingKeyOf('row')(rowKey) ?? '';
  if (rowKey.length > 1024) expect(got).toMatch(/^[0-9a-f]{64}$/);
  else expect(got).toBe(key);
});

test('the ordering key and the attribute of every row fit in 1,024 bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 4096 }), (bytes) => {
      const rowKey = Buffer.from(bytes);
      expect(Buffer.byteLength(orderingKeyOf('row')(rowKey) ?? '')).toBeLessThanOrEqual(1024);
      for (const value of Object.values(rowKeyAttribute(rowKey))) {
        expect(Buffer.byteLength(value)).toBeLessThanOrEqual(1024);
      }
    }),
  );
});

const GROUPS = [51, 50, 35, 1, 3];

test('the group of a row never changes from version to version', () => {
  const groups = ['a', 'b', 'user-0000001', 'user-0000002', 'ä'].map((key) => groupOf(Buffer.from(key), 64));
  expect(groups).toEqual(GROUPS);
  expect(orderingKeyOf(64)(Buffer.from('a'))).toBe(`group-${GROUPS[0] ?? ''}`);
});

test('keys that differ in a counter are spread evenly over the groups', () => {
  const counts = new Array<number>(64).fill(0);
  for (let row = 0; row < 64_000; row += 1) {
    const group = groupOf(Buffer.from(`row-${String(row).padStart(9, '0')}`), 64);
    counts[group] = (counts[group] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(850);
  expect(Math.max(...counts)).toBeLessThan(1150);
});

test.each([
  [Buffer.from('rów'), { 'row-key': 'rów' }],
  [Buffer.from([0xff]), { 'row-key-base64': '/w==' }],
])('the attribute of a row tells its key', (rowKey, attribute) => {
  expect(rowKeyAttribute(rowKey)).toEqual(attribute);
});

test('the attribute of a row that does not fit is its SHA-256', () => {
  expect(Object.keys(rowKeyAttribute(Buffer.alloc(1025, 'k')))).toEqual(['row-key-sha256']);
  expect(Object.keys(rowKeyAttribute(Buffer.alloc(1000, 0xff)))).toEqual(['row-key-sha256']);
});
