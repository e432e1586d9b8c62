import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Bound,
  closedBound,
  coalesce,
  cuts,
  formatRange,
  isEmptyRange,
  openBound,
  prefixRange,
  type RowRange,
  UNBOUNDED,
  WHOLE_TABLE,
} from '../../../../shared/model/row-range.ts';
import { planSplits } from '../../../../shared/scan/plan/plan-splits.ts';
import type { RowKeySample } from '../../../../shared/scan/ports.ts';

const sample = (key: string, offsetBytes = 0): RowKeySample => ({
  key: Buffer.from(key),
  offsetBytes: BigInt(offsetBytes),
});
const samplesAt = (...keys: readonly string[]): RowKeySample[] =>
  keys.map((key, index) => sample(key, (index + 1) * 100));

function range(text: string): RowRange {
  const [, open, start = '', end = '', close] = /^([[(])(.*), (.*)([\])])$/.exec(text) ?? [];
  const bound = (key: string, isClosed: boolean): Bound =>
    key === '*' ? UNBOUNDED : isClosed ? closedBound(Buffer.from(key)) : openBound(Buffer.from(key));
  return { start: bound(start, open === '['), end: bound(end, close === ']') };
}

const planned = (ranges: readonly RowRange[], samples: readonly RowKeySample[]): string[] =>
  planSplits(ranges, samples).map((split) => formatRange(split.range));

describe('cuts', () => {
  test.each([
    ['no samples leave one split for each range', ['[a, c)', '[x, z]'], [], ['[a, c)', '[x, z]']],
    ['the whole table is cut at every key', ['(*, *)'], ['g', 'p'], ['(*, g)', '[g, p)', '[p, *)']],
    ['a range without a boundary inside stays whole', ['[a, c)'], ['g', 'p'], ['[a, c)']],
    ['the outer bounds stay as they are', ['(a, z]'], ['g'], ['(a, g)', '[g, z]']],
    ['there is no cut at the start', ['[g, p)', '(p, z)'], ['g', 'p'], ['[g, p)', '(p, z)']],
    ['there is no cut at an open end', ['[a, g)'], ['g'], ['[a, g)']],
    ['there is one at a closed end, which leaves its row', ['[a, g]'], ['g'], ['[a, g)', '[g, g]']],
    ['the end of the table is no boundary', ['(*, *)'], [''], ['(*, *)']],
    ['samples may come in any order and twice', ['(*, *)'], ['p', 'g', 'p', ''], ['(*, g)', '[g, p)', '[p, *)']],
    ['keys order as unsigned bytes', ['(*, *)'], ['\u00e9', 'z'], ['(*, z)', '[z, \\xc3\\xa9)', '[\\xc3\\xa9, *)']],
    ['ranges that touch are one before they are cut', ['[m, z)', '[a, m)'], ['g'], ['[a, g)', '[g, z)']],
    ['ranges before and behind all samples', ['[a, b)', '[x, *)'], ['g', 'p'], ['[a, b)', '[x, *)']],
    [
      'several ranges share boundaries in order',
      ['[a, h)', '[i, r)'],
      ['g', 'p'],
      ['[a, g)', '[g, h)', '[i, p)', '[p, r)'],
    ],
    ['between a key and its successor is nothing to cut off', ['(a, z)'], ['a\0', 'g'], ['(a, g)', '[g, z)']],
  ] as const)('%s', (_name, ranges, keys, splits) => {
    expect(planned(ranges.map(range), samplesAt(...keys))).toEqual(splits);
  });
});

describe('sizes', () => {
  const sizes = (ranges: readonly string[], samples: readonly RowKeySample[]): (bigint | undefined)[] =>
    planSplits(ranges.map(range), samples).map(({ section }) => section.bytes);

  test('are those between two boundaries, from the start of the table to its end where that was sampled', () => {
    const samples = [sample('g', 100), sample('p', 250), sample('', 300)];
    expect(sizes(['(*, *)'], samples)).toEqual([100n, 150n, 50n]);
    expect(sizes(['(*, *)'], samples.slice(0, 2))).toEqual([100n, 150n, undefined]);
  });

  test('of a range inside a section are those of the section, which its splits share', () => {
    const splits = planSplits(['[h, i)', '[k, m)', '[p, q)'].map(range), [sample('g', 100), sample('p', 250)]);
    expect(splits.map(({ section }) => section.bytes)).toEqual([150n, 150n, undefined]);
    expect(splits[0]?.section).toBe(splits[1]?.section);
  });

  test('are not known where offsets do not grow', () => {
    expect(sizes(['(*, *)'], [sample('g', 100), sample('p', 100), sample('t', 80), sample('', 200)])).toEqual([
      100n,
      undefined,
      undefined,
      120n,
    ]);
  });

  test('of a key that was sampled twice go by the larger offset', () => {
    expect(sizes(['(*, *)'], [sample('g', 100), sample('g', 120)])).toEqual([120n, undefined]);
  });
});

const key = fc
  .array(fc.constantFrom(0x00, 0x61, 0x62, 0xff), { minLength: 1, maxLength: 3 })
  .map((bytes) => Buffer.from(bytes));
const bound: fc.Arbitrary<Bound> = fc.oneof(
  fc.constant(UNBOUNDED),
  fc.record({ kind: fc.constantFrom('closed' as const, 'open' as const), key }),
);
const ranges = fc
  .array(fc.record({ start: bound, end: bound }), { maxLength: 6 })
  .map((some) => some.filter((each) => !isEmptyRange(each)));
const samples = fc.array(
  fc.record({ key: fc.oneof(key, fc.constant(Buffer.alloc(0))), offsetBytes: fc.bigInt({ min: 0n, max: 1000n }) }),
  { maxLength: 12 },
);

test('splits hold what the ranges hold, in order and each key once; none is empty and none can be cut further', () => {
  fc.assert(
    fc.property(ranges, samples, (some, at) => {
      const before = JSON.stringify([some, at.map((each) => each.key)]);
      const splits = planSplits(some, at).map((split) => split.range);
      expect(coalesce(splits)).toEqual(coalesce(some));
      expect(splits.some(isEmptyRange)).toBe(false);
      for (const split of splits) expect(at.filter((each) => cuts(split, each.key))).toEqual([]);
      for (const [index, split] of splits.slice(1).entries()) {
        const { end } = splits[index] as RowRange;
        if (end.kind === 'unbounded' || split.start.kind === 'unbounded') throw new Error('two splits overlap');
        const order = Buffer.compare(end.key, split.start.key);
        expect(order < 0 || (order === 0 && (end.kind === 'open' || split.start.kind === 'open'))).toBe(true);
      }
      expect(planSplits(some, at)).toEqual(planSplits(some, at.toReversed()));
      expect(JSON.stringify([some, at.map((each) => each.key)])).toBe(before);
    }),
    { numRuns: 2000 },
  );
});

test('20,000 prefixes and 5,000 boundaries are planned in well under a second', () => {
  const prefixes = Array.from({ length: 20_000 }, (_, index) =>
    prefixRange(Buffer.from(`customer-${String((index * 7919) % 20_000).padStart(6, '0')}#`)),
  );
  const boundaries = Array.from({ length: 5000 }, (_, index) =>
    sample(`customer-${String(index * 4).padStart(6, '0')}#5`, index),
  );
  const before = process.cpuUsage();
  const splits = planSplits(prefixes, boundaries);
  const { user } = process.cpuUsage(before);
  expect(splits).toHaveLength(25_000);
  expect(user / 1000).toBeLessThan(700);
  expect(planSplits([WHOLE_TABLE], boundaries)).toHaveLength(5001);
});
