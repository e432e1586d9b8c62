import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quantileOf, sortedNumbers } from '../../../shared/base/quantile.ts';

test('a quantile is a value at the nearest lower rank', () => {
  const hundred = Array.from({ length: 101 }, (_, index) => index);
  expect([0, 0.5, 0.95, 0.999, 1].map((share) => quantileOf(hundred, share))).toEqual([0, 50, 95, 99, 100]);
  expect(quantileOf([1, 9], 0.5)).toBe(1);
  expect(quantileOf([7], 0.95)).toBe(7);
  expect(quantileOf([], 0.5)).toBeUndefined();
});

test('a quantile is always one of the values, and grows with its share', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ noNaN: true }), { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (values, one, other) => {
        const sorted = sortedNumbers(values);
        const [low, high] = [quantileOf(sorted, Math.min(one, other)), quantileOf(sorted, Math.max(one, other))];
        expect(values).toContain(low);
        expect(low).toBeLessThanOrEqual(high ?? Number.NaN);
      },
    ),
  );
});
