import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Bound,
  closedBound,
  coalesce,
  containsKey,
  formatRange,
  isEmptyRange,
  openBound,
  prefixRange,
  type RowRange,
  UNBOUNDED,
  WHOLE_TABLE,
} from '../../../../shared/model/row-range.ts';
import { planSummary, planWarning, splitRanges } from '../../../../shared/scan/plan/split-ranges.ts';

const sample = (key: string, offset = 0) => ({ key: Buffer.from(key), offsetBytes: BigInt(offset) });
const planned = (ranges: readonly RowRange[], ...keys: readonly string[]): string[] =>
  splitRanges(
    ranges,
    keys.map((key) => sample(key)),
  ).map(({ range }) => formatRange(range));
const closedOpen = (start: string, end: string): RowRange => ({
  start: closedBound(Buffer.from(start)),
  end: openBound(Buffer.from(end)),
});

test('without a boundary inside a range is one split', () => {
  expect(planned([WHOLE_TABLE])).toEqual(['(*, *)']);
  expect(planned([WHOLE_TABLE], '')).toEqual(['(*, *)']);
  expect(planned([closedOpen('b', 'c')], 'a', 'd')).toEqual(['[b, c)']);
});

test('a range is cut at every boundary inside it, and its outer bounds stay', () => {
  expect(planned([WHOLE_TABLE], 'b', 'a', '')).toEqual(['(*, a)', '[a, b)', '[b, *)']);
  const closed = { start: openBound(Buffer.from('a')), end: closedBound(Buffer.from('c')) };
  expect(planned([closed], 'a', 'b', 'c')).toEqual(['(a, b)', '[b, c)', '[c, c]']);
  expect(planned([closedOpen('a', 'c')], 'a', 'c')).toEqual(['[a, c)']);
});

test('boundaries that come twice, and out of order, count once', () => {
  expect(planned([WHOLE_TABLE], 'b', 'a', 'b')).toEqual(['(*, a)', '[a, b)', '[b, *)']);
});

test('sizes are what lies between two boundaries, and unknown where the offsets do not grow or the table goes on', () => {
  const samples = [sample('a', 100), sample('b', 300), sample('c', 250)];
  expect(splitRanges([WHOLE_TABLE], samples).map(({ bytes }) => bytes)).toEqual([100n, 200n, undefined, undefined]);
  expect(splitRanges([closedOpen('aa', 'ab')], samples).map(({ bytes }) => bytes)).toEqual([200n]);
  expect(planSummary(splitRanges([WHOLE_TABLE], samples))).toEqual({
    splits: 4,
    bytes: 300,
    smallestBytes: 100,
    largestBytes: 200,
    withoutEstimate: 2,
  });
});

test('fewer splits than slots are told', () => {
  expect(planWarning(splitRanges([WHOLE_TABLE], []), 1)).toBeUndefined();
  expect(planWarning(splitRanges([WHOLE_TABLE], []), 4)).toContain('1 split for 4 slots');
});

test('20,000 prefixes beside 10,000 boundaries are planned without a look at each pair', () => {
  const ranges = coalesce(
    Array.from({ length: 20_000 }, (_, index) => prefixRange(Buffer.from(`p${String(index).padStart(6, '0')}#`))),
  );
  const samples = Array.from({ length: 10_000 }, (_, index) => sample(`p${String(index * 2).padStart(6, '0')}#m`));
  expect(splitRanges(ranges, samples)).toHaveLength(30_000);
});

const keys = ['', 'a', 'aa', 'ab', 'b', 'ba', 'bb', 'c'].map((key) => Buffer.from(key));
const key = fc.constantFrom(...keys.slice(1));
const bound = (): fc.Arbitrary<Bound> => fc.oneof(fc.constant(UNBOUNDED), key.map(closedBound), key.map(openBound));
const anyRanges = fc
  .array(fc.record({ start: bound(), end: bound() }), { maxLength: 4 })
  .map((ranges) => coalesce(ranges.filter((range) => !isEmptyRange(range))));

test('every key of the ranges lies in exactly one split, no other in any, and no split is empty', () => {
  fc.assert(
    fc.property(anyRanges, fc.array(fc.constantFrom(...keys)), (ranges, sampled) => {
      const samples = sampled.map((one) => ({ key: one, offsetBytes: 0n }));
      const splits = splitRanges(ranges, samples).map(({ range }) => range);
      for (const probe of [...keys.slice(1), Buffer.from('a\0'), Buffer.from('zz')]) {
        const wanted = ranges.some((range) => containsKey(range, probe)) ? 1 : 0;
        expect(splits.filter((range) => containsKey(range, probe)).length).toBe(wanted);
      }
      expect(splits.filter((range) => isEmptyRange(range))).toEqual([]);
      // The same samples in another order make the same plan.
      const again = splitRanges(ranges, samples.toReversed()).map(({ range }) => range);
      expect(again.map(formatRange)).toEqual(splits.map(formatRange));
    }),
  );
});
