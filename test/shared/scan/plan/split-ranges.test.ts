import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Bound,
  closedBound,
  coalesce,
  containsKey,
  cuts,
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

test('a boundary that leaves nothing on one side does not keep those behind it from cutting', () => {
  const open = { start: openBound(Buffer.from('a')), end: openBound(Buffer.from('z')) };
  expect(planned([open], 'a\0', 'g')).toEqual(['(a, g)', '[g, z)']);
});

test('keys order as unsigned bytes', () => {
  expect(planned([WHOLE_TABLE], 'é', 'z')).toEqual(['(*, z)', '[z, \\xc3\\xa9)', '[\\xc3\\xa9, *)']);
});

test('sizes are what lies between two boundaries, and unknown where the offsets do not grow or the end was not sampled', () => {
  const samples = [sample('a', 100), sample('b', 300), sample('c', 250)];
  const sizes = (ranges: readonly RowRange[], at = samples): (bigint | undefined)[] =>
    splitRanges(ranges, at).map(({ section }) => section.bytes);
  expect(sizes([WHOLE_TABLE])).toEqual([100n, 200n, undefined, undefined]);
  expect(sizes([WHOLE_TABLE], [...samples, sample('', 400)])).toEqual([100n, 200n, undefined, 150n]);
  expect(sizes([WHOLE_TABLE], [sample('a', 100), sample('a', 120)])).toEqual([120n, undefined]);
  expect(sizes([closedOpen('aa', 'ab')])).toEqual([200n]);
  expect(planSummary(splitRanges([WHOLE_TABLE], samples), samples)).toEqual({
    splits: 4,
    boundaries: 3,
    bytes: 300,
    smallestBytes: 100,
    largestBytes: 200,
    withoutEstimate: 2,
  });
});

test('the section that many splits lie in is counted once', () => {
  const samples = [sample('a', 100), sample('b', 300)];
  const splits = splitRanges([closedOpen('aa', 'ab'), closedOpen('ac', 'ad')], samples);
  expect(planSummary(splits, samples)).toMatchObject({ splits: 2, bytes: 200, withoutEstimate: 0 });
  expect(planSummary(splitRanges([WHOLE_TABLE], []), [])).toEqual({ splits: 1, boundaries: 0, withoutEstimate: 1 });
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
  const before = process.cpuUsage();
  expect(splitRanges(ranges, samples)).toHaveLength(30_000);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(700);
});

const keys = ['', 'a', 'a\0', 'aa', 'ab', 'b', 'ba', 'bb', 'c'].map((key) => Buffer.from(key));
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
      // Nothing is left to be cut.
      for (const range of splits) expect(sampled.filter((one) => cuts(range, one))).toEqual([]);
      // The same samples in another order make the same plan.
      const again = splitRanges(ranges, samples.toReversed()).map(({ range }) => range);
      expect(again.map(formatRange)).toEqual(splits.map(formatRange));
    }),
  );
});
