import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  cutNumber,
  isInRange,
  laneBelow,
  LANES,
  MAX_NUMBER,
  numberOf,
  numbersOfLane,
  OUTSIDE_LANES,
  segmentId,
} from '../../../shared/staged/segment-id.ts';

const lane = fc.integer({ min: 0, max: LANES - 1 });
const number = fc.oneof(fc.integer({ min: 0, max: 2000 }), fc.constant(MAX_NUMBER));
const random = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => value.toString(16).padStart(16, '0'));
const everyLane = Array.from({ length: LANES }, (_, index) => index);

test('an id bears its number, and one that is no such id bears none', () => {
  expect(segmentId(3, 42, '0123456789abcdef')).toBe('3-000000000042-0123456789abcdef');
  expect(numberOf('3-000000000042-0123456789abcdef')).toBe(42);
  expect(numberOf('0b8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a11')).toBe(0);
  expect(() => segmentId(8, 1, '0123456789abcdef')).toThrow(RangeError);
  expect(() => segmentId(0, MAX_NUMBER + 1, '0123456789abcdef')).toThrow(RangeError);
  expect(() => segmentId(0, 1, 'x')).toThrow(RangeError);
});

test('the ids of a lane in their order are numbers in theirs', () => {
  fc.assert(
    fc.property(lane, number, number, random, random, (l, a, b, x, y) => {
      const [left, right] = [segmentId(l, a, x), segmentId(l, b, y)];
      if (a < b) expect(left < right).toBe(true);
      expect(isInRange(left, numbersOfLane(l, b, b))).toBe(a === b);
      expect(isInRange(left, laneBelow(l, b))).toBe(a < b);
    }),
  );
});

test('every id is in exactly one of the lanes and the ranges between them', () => {
  const ranges = [...OUTSIDE_LANES, ...everyLane.map((l) => numbersOfLane(l, 0, MAX_NUMBER))];
  const id = fc.oneof(
    fc.tuple(lane, number, random).map(([l, n, r]) => segmentId(l, n, r)),
    fc.constant(undefined).map(() => randomUUID()),
  );
  fc.assert(
    fc.property(id, (one) => {
      expect(ranges.filter((range) => isInRange(one, range))).toHaveLength(1);
      expect(OUTSIDE_LANES.some((range) => isInRange(one, range))).toBe(one.length === 36);
    }),
  );
});

test('the shares of a number hold each of its ids once, and nearly as many each', () => {
  fc.assert(
    fc.property(lane, number, fc.integer({ min: 1, max: 300 }), fc.array(random), (l, n, shares, randoms) => {
      const cut = cutNumber(l, n, shares);
      expect(cut).toHaveLength(shares);
      for (const r of ['0'.repeat(16), 'f'.repeat(16), ...randoms]) {
        expect(cut.filter((range) => isInRange(segmentId(l, n, r), range))).toHaveLength(1);
      }
      for (const [index, { to }] of cut.entries()) expect(cut[index + 1]?.from ?? to).toBe(to);
    }),
  );
  const quarters = cutNumber(1, 7, 4).map(({ from }) => from.slice(15));
  expect(quarters).toEqual(['', '4000000000000000', '8000000000000000', 'c000000000000000']);
});
