import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffDelay, type BackoffSchedule } from '../../../shared/base/backoff.ts';

const schedule: BackoffSchedule = { initialMillis: 100, maxMillis: 1500, jitter: 0 };
const middle = (): number => 0.5;

test('delays double from the first to the longest and stay there', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7].map((attempt) => backoffDelay(schedule, attempt, middle));
  expect(delays).toEqual([100, 200, 400, 800, 1500, 1500, 1500]);
});

test('a first delay that is the longest is a flat schedule', () => {
  const flat = { initialMillis: 250, maxMillis: 250, jitter: 0 };
  expect([1, 2, 50].map((attempt) => backoffDelay(flat, attempt, middle))).toEqual([250, 250, 250]);
});

test('the lowest and the highest draw are the ends of the jitter', () => {
  const jittered = { ...schedule, jitter: 0.2 };
  expect(backoffDelay(jittered, 1, () => 0)).toBe(80);
  expect(backoffDelay(jittered, 1, middle)).toBe(100);
  expect(backoffDelay(jittered, 1, () => 1 - Number.EPSILON)).toBe(120);
});

test('every delay is a whole number of at least 1 ms and within the jitter of its step', () => {
  fc.assert(
    fc.property(
      fc.record({
        initialMillis: fc.integer({ min: 0, max: 60_000 }),
        maxMillis: fc.integer({ min: 0, max: 3_600_000 }),
        jitter: fc.double({ min: 0, max: 0.999, noNaN: true }),
      }),
      fc.integer({ min: 1, max: 2 ** 31 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (anySchedule, attempt, draw) => {
        const step = Math.min(anySchedule.initialMillis * 2 ** Math.min(attempt - 1, 60), anySchedule.maxMillis);
        const delay = backoffDelay(anySchedule, attempt, () => draw);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(Math.max(1, Math.floor(step * (1 - anySchedule.jitter))));
        expect(delay).toBeLessThanOrEqual(Math.max(1, Math.ceil(step * (1 + anySchedule.jitter))));
      },
    ),
    { seed: 1 },
  );
});
