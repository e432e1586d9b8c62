import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  common,
  gapsIn,
  isWithin,
  joined,
  meets,
  overlaps,
  tiles,
} from '../../../../shared/change-stream/ledger/cover.ts';
import { formatRange, type RowRange, WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { range } from '../../../support/partitions.ts';

const texts = (ranges: readonly RowRange[]): string[] => ranges.map(formatRange);

describe('gaps of a range', () => {
  test('are the range itself where nothing covers it, and none where all of it is covered', () => {
    expect(texts(gapsIn(range('a', 'c'), []))).toEqual(['[a, c)']);
    expect(gapsIn(range('a', 'c'), [WHOLE_TABLE])).toEqual([]);
    expect(gapsIn(WHOLE_TABLE, [range('', 'm'), range('m', '')])).toEqual([]);
  });

  test('are what is left before, between and behind, whatever the order of the others and wherever they overlap', () => {
    const covered = [range('p', 's'), range('c', 'e'), range('d', 'g')];
    expect(texts(gapsIn(WHOLE_TABLE, covered))).toEqual(['(*, c)', '[g, p)', '[s, *)']);
    expect(texts(gapsIn(range('d', 'r'), covered))).toEqual(['[g, p)']);
  });

  test('are none where tiles cover it whose boundaries have moved', () => {
    expect(gapsIn(range('a', 'c'), [range('', 'b'), range('b', 'd')])).toEqual([]);
  });

  test('do not touch a range that only meets the others', () => {
    expect(texts(gapsIn(range('b', 'c'), [range('a', 'b'), range('c', 'd')]))).toEqual(['[b, c)']);
  });
});

test('ranges tile a target where each ends at the next, the first at its start and the last at its end', () => {
  expect(tiles(range('a', 'c'), [range('b', 'c'), range('a', 'b')])).toBe(true);
  expect(tiles(WHOLE_TABLE, [range('', 'b'), range('b', '')])).toBe(true);
  for (const others of [
    [],
    [range('b', 'c')],
    [range('a', 'b')],
    [range('a', 'b'), range('bb', 'c')],
    [range('a', 'bb'), range('b', 'c')],
    [range('a', 'b'), range('b', 'd')],
    [range('a', 'b'), range('a', 'b'), range('b', 'c')],
  ]) {
    expect(tiles(range('a', 'c'), others)).toBe(false);
  }
});

test('two ranges that both have no end do not tile anything, and asking it is no error', () => {
  expect(tiles(WHOLE_TABLE, [range('', ''), range('b', '')])).toBe(false);
  expect(tiles(range('b', ''), [range('b', ''), range('b', '')])).toBe(false);
  expect(meets(WHOLE_TABLE, WHOLE_TABLE)).toBe(false);
  expect(overlaps(WHOLE_TABLE, WHOLE_TABLE)).toBe(true);
});

test('ranges that meet or overlap join to one, and others stay apart', () => {
  expect(texts(joined([range('c', 'd'), range('a', 'b'), range('b', 'c'), range('e', '')]))).toEqual([
    '[a, d)',
    '[e, *)',
  ]);
});

test('gaps and what covers them make up the range, and share no key', () => {
  const keys = fc.constantFrom('', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
  const ranges = fc
    .tuple(keys, keys)
    .filter(([start, end]) => end === '' || start < end)
    .map(([start, end]) => range(start, end));
  fc.assert(
    fc.property(ranges, fc.array(ranges, { maxLength: 6 }), (whole, covered) => {
      const gaps = gapsIn(whole, covered);
      for (const gap of gaps) {
        expect(isWithin(gap, whole)).toBe(true);
        expect(covered.some((each) => overlaps(each, gap))).toBe(false);
      }
      const inside = covered.filter((each) => overlaps(each, whole)).map((each) => common(each, whole));
      expect(texts(joined([...gaps, ...inside]))).toEqual(texts([whole]));
    }),
  );
});
