import { expect, test } from 'vitest';
import { MAX_UNIT_BYTES, MAX_UNITS } from '../../../shared/slots/bounds.ts';
import { chooseClaims, shareOf, wantedUnits } from '../../../shared/slots/choose-claims.ts';

const NOW = 1_000_000;
const waiting = (count: number, waitedMillis = 0, bytes = 100) =>
  Array.from({ length: count }, (_, place) => ({ place, since: NOW - waitedMillis, bytes }));
const placesOf = (chosen: readonly { readonly place: number }[]): number[] => chosen.map(({ place }) => place);

test.each([
  [64, 4, 16],
  [7, 4, 2],
  [1, 4, 1],
  [0, 4, 1],
])('of %i open units each of %i slots has a share of %i', (open, parallelism, share) => {
  expect(shareOf(open, parallelism)).toBe(share);
});

test('a slot takes its share at once and leaves the rest to others', () => {
  const holding = { units: 0, bytes: 0, wanted: 4, concurrent: 4, share: 2 };
  expect(placesOf(chooseClaims(waiting(8), holding, NOW))).toEqual([0, 1]);
});

test('beyond its share a slot takes what has waited for three seconds, from the head of the queue', () => {
  const holding = { units: 2, bytes: 0, wanted: 4, concurrent: 4, share: 2 };
  expect(chooseClaims(waiting(8, 2_999), holding, NOW)).toEqual([]);
  expect(placesOf(chooseClaims(waiting(8, 3_000), holding, NOW))).toEqual([0, 1]);
});

test('beyond its share a slot takes no stock: others may be about to finish theirs', () => {
  const alone = { units: 0, bytes: 0, wanted: 8, concurrent: 1, share: 1 };
  expect(placesOf(chooseClaims(waiting(4, 10_000), alone, NOW))).toEqual([0]);
  expect(placesOf(chooseClaims(waiting(4, 10_000), { ...alone, share: 3 }, NOW))).toEqual([0, 1, 2]);
});

test('a slot that has none takes one, however small its share', () => {
  const holding = { units: 0, bytes: 0, wanted: 4, concurrent: 4, share: shareOf(1, 100) };
  expect(placesOf(chooseClaims(waiting(1), holding, NOW))).toEqual([0]);
});

test('a slot takes no more than its document holds, but one unit whatever its size', () => {
  const holding = { units: 0, bytes: 0, wanted: 1000, concurrent: 1000, share: 1000 };
  expect(chooseClaims(waiting(1000), holding, NOW)).toHaveLength(MAX_UNITS);
  expect(chooseClaims(waiting(100, 0, 100_000), holding, NOW)).toHaveLength(6);
  expect(chooseClaims(waiting(2, 0, 2 * MAX_UNIT_BYTES), holding, NOW)).toHaveLength(1);
});

test('a slot that finishes more than it reads at a time wants what it finishes between two looks, and spare', () => {
  expect(wantedUnits(4, 0)).toBe(4);
  expect(wantedUnits(4, 3)).toBe(4);
  expect(wantedUnits(4, 50)).toBe(100);
  expect(wantedUnits(4, 5_000)).toBe(MAX_UNITS);
});
