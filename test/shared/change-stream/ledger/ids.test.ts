import { expect, test } from 'vitest';
import { mergeId, missingId, partitionId } from '../../../../shared/change-stream/ledger/ids.ts';
import type { RowRange } from '../../../../shared/model/row-range.ts';
import { range, token } from '../../../support/partitions.ts';

test('equal values have equal names, and names are hexadecimal digits of one length, whatever the keys hold', () => {
  const long = range('a'.repeat(4096), '');
  expect(mergeId(1, long)).toBe(mergeId(1, range('a'.repeat(4096), '')));
  for (const id of [mergeId(1, long), missingId(1, long, 'p'), partitionId(1, long, [token('a', 'b')], 'start')]) {
    expect(id).toMatch(/^[0-9a-f]{64}$/);
  }
});

test('ranges whose renderings would look alike, or whose keys join to the same bytes, have names of their own', () => {
  const pairs: [RowRange, RowRange][] = [
    [range('a', 'bc'), range('ab', 'c')],
    [range('', 'a'), range('a', '')],
    [range('*', ''), range('', '')],
    [range('a, b', 'c'), range('a', 'b, c')],
  ];
  for (const [left, right] of pairs) expect(mergeId(1, left)).not.toBe(mergeId(1, right));
});

test('generations, kinds, tokens and origins all tell partitions apart', () => {
  const ids = [
    partitionId(1, range('a', 'c'), [], 'start'),
    partitionId(2, range('a', 'c'), [], 'start'),
    partitionId(1, range('a', 'c'), [token('a', 'c', 't')], 'start'),
    partitionId(1, range('a', 'c'), [token('a', 'c', 't')], 'parent'),
    partitionId(1, range('a', 'c'), [token('a', 'b', 't'), token('b', 'c', 't')], 'parent'),
    mergeId(1, range('a', 'c')),
    mergeId(2, range('a', 'c')),
    missingId(1, range('a', 'c'), 'p'),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
