import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeIds } from '../../../../shared/change-stream/forms/change-id.ts';
import { isIdentity } from '../../../../shared/model/identity.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { anyChange, changeOf } from '../../../support/changes.ts';

const idOf = changeIds(tableName('p', 'i', 't'));

test('the id of a change is the same in every process and version', () => {
  expect(idOf(changeOf())).toBe('6c8cb8f84dff37892e62bba32a2cea79');
});

test('the id of a change has the form of an identity, and depends on nothing that a reading may tell otherwise', () => {
  fc.assert(
    fc.property(anyChange, anyChange, (change, other) => {
      const { token, lowWatermark, entries, bytes, places } = other;
      expect(isIdentity(idOf(change))).toBe(true);
      expect(idOf({ ...change, token, lowWatermark, entries, bytes, ...(places && { places }) })).toBe(idOf(change));
    }),
  );
});

test.each([
  ['row', { rowKey: Buffer.from('rov') }],
  ['commit time', { commitTime: 1_700_000_000_123_456_790n }],
  ['tie breaker', { tieBreaker: 1 }],
  ['cluster', { sourceCluster: 'c2' }],
] as const)('changes of another %s have other ids', (_name, other) => {
  expect(idOf(changeOf(other))).not.toBe(idOf(changeOf()));
});

test('changes of another table have other ids', () => {
  expect(changeIds(tableName('p', 'i', 'u'))(changeOf())).not.toBe(idOf(changeOf()));
});

test('no two changes share an id because the end of one field is the start of the next', () => {
  const bytes = Buffer.alloc(16, 'c');
  const ids = Array.from({ length: 16 }, (_, length) =>
    idOf(changeOf({ rowKey: bytes.subarray(0, length + 1), sourceCluster: 'c'.repeat(15 - length) })),
  );
  expect(new Set(ids).size).toBe(16);
});

test('a key, and the name of a cluster, may be longer than the service allows', () => {
  const long = changeOf({ rowKey: Buffer.alloc(20_000, 'k'), sourceCluster: 'ü'.repeat(5000) });
  expect(isIdentity(idOf(long))).toBe(true);
  expect(idOf({ ...long, rowKey: Buffer.alloc(20_001, 'k') })).not.toBe(idOf(long));
  expect(idOf(changeOf())).toBe('6c8cb8f84dff37892e62bba32a2cea79');
});
