import { expect, test } from 'vitest';
import { EnvelopeBound } from '../../../../shared/staged/write/envelope-bound.ts';

const SLOW = 5000;
const MINUTE = 60_000;

test('the bound is halved by a request of about as many that took long, and by no quicker or smaller one', () => {
  const bound = new EnvelopeBound(600, SLOW);
  bound.ended(600, SLOW - 1, 0);
  bound.ended(1, SLOW, 0);
  bound.ended(299, SLOW, 0);
  expect(bound.at(0)).toBe(600);
  bound.ended(600, SLOW, 0);
  expect(bound.at(0)).toBe(300);
});

test('requests that were out together halve it once', () => {
  const bound = new EnvelopeBound(600, SLOW);
  for (let request = 0; request < 10; request += 1) bound.ended(600, 2 * SLOW, request);
  expect(bound.at(10)).toBe(300);
});

test('it falls to one while requests stay slow, and rises to its double every minute', () => {
  const bound = new EnvelopeBound(600, SLOW);
  for (let now = 0; now < 20; now += 1) bound.ended(bound.at(now), SLOW, now);
  expect(bound.at(20)).toBe(1);
  const later = Array.from({ length: 11 }, (_, minutes) => bound.at(20 + minutes * MINUTE));
  expect(later).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600]);
});

test('it rises for all minutes that have passed, to the configured bound at most', () => {
  const bound = new EnvelopeBound(600, SLOW);
  bound.ended(600, SLOW, 0);
  expect(bound.at(3 * MINUTE)).toBe(600);
});
