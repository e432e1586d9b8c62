import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  committedBy,
  completedLongAgo,
  dueByAge,
  LATE_MILLIS,
  nextLookFrom,
  nextMarks,
  startOfLook,
  unsentOf,
} from '../../../../shared/staged/checkpoint/look.ts';
import { type CheckpointState, type Mark, NO_AMOUNT, type SegmentHead } from '../../../../shared/staged/state.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 0, 1);

const head = (number: number, createdAt = NOW): SegmentHead => ({
  id: `0-${String(number).padStart(12, '0')}-${'0'.repeat(16)}`,
  number,
  envelopes: 1,
  bytes: 1,
  parts: 0,
  stagedAt: createdAt,
  createdAt,
});

const checkpoint = (number: number, sentAt?: number): CheckpointState => ({
  number,
  completedAt: NOW,
  amount: NO_AMOUNT,
  oldestStagedAt: NOW,
  ...(sentAt !== undefined && { sentAt }),
});

describe('marks', () => {
  test('tell the number that was completed at least a quarter of an hour ago, give or take a minute', () => {
    let marks: readonly Mark[] = [];
    const completed = (minute: number): number => 6 * minute;
    for (let second = 0; second <= 120 * 60; second += 10) {
      marks = nextMarks(marks, completed(Math.floor(second / 60)), NOW + second * 1000);
    }
    const now = NOW + 120 * MINUTE;
    const longAgo = completedLongAgo(marks, now);
    expect(longAgo).toBeLessThanOrEqual(completed(105));
    expect(longAgo).toBeGreaterThanOrEqual(completed(103));
    expect(marks.length).toBeLessThanOrEqual(17);
  });

  test('know nothing at first, so that a look begins at the beginning', () => {
    expect(completedLongAgo([], NOW)).toBe(0);
    expect(startOfLook({ marks: [] }, NOW)).toBe(0);
    expect(startOfLook({ committed: 40, lookFrom: 41, marks: [{ number: 40, at: NOW }] }, NOW)).toBe(0);
  });

  test('of a clock that was ahead age all the same', () => {
    const marks = nextMarks([{ number: 1, at: NOW + 3_600_000 }], 5, NOW);
    expect(completedLongAgo(nextMarks(marks, 9, NOW + LATE_MILLIS), NOW + LATE_MILLIS)).toBe(1);
  });
});

test('a look starts no higher than what is not committed, what may still appear, and what the last one found', () => {
  const marks = [{ number: 10, at: NOW - LATE_MILLIS }];
  expect(startOfLook({ committed: 4, lookFrom: 60, marks }, NOW)).toBe(5);
  expect(startOfLook({ committed: 50, lookFrom: 60, marks }, NOW)).toBe(10);
  // Something came late below what was committed by then, and is not drained yet.
  expect(startOfLook({ committed: 50, lookFrom: 3, marks }, NOW)).toBe(3);
  const lanes = [
    { heads: [head(7)], isWhole: true },
    { heads: [], isWhole: true },
  ];
  expect(nextLookFrom(20, lanes)).toBe(7);
  expect(nextLookFrom(20, [])).toBe(21);
});

test('committed is the number below the lowest segment of all lanes, never falls, and never passes what was completed', () => {
  const lane = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 4 }).map((numbers) => ({
    heads: numbers.toSorted((left, right) => left - right).map((number) => head(number)),
    isWhole: true,
  }));
  fc.assert(
    fc.property(fc.nat(30), fc.nat(30), fc.array(lane, { minLength: 8, maxLength: 8 }), (before, more, lanes) => {
      const completed = before + more;
      const committed = committedBy(before, completed, lanes);
      expect(committed).toBeGreaterThanOrEqual(before);
      expect(committed).toBeLessThanOrEqual(completed);
      const lowest = Math.min(...lanes.flatMap(({ heads }) => heads.map(({ number }) => number)));
      if (committed > before) expect(lowest).toBeGreaterThan(committed);
      if (lowest > completed) expect(committed).toBe(completed);
    }),
  );
});

test('what is sent is what was not sent, was stored after that, or is left when the patience has passed', () => {
  const heads = [head(1, NOW - 5), head(2, NOW - 5), head(2, NOW + 5), head(3, NOW - 5), head(4, NOW - 5)];
  const checkpoints = new Map([
    [1, checkpoint(1)],
    [2, checkpoint(2, NOW)],
    [3, checkpoint(3, NOW - 600_000)],
  ]);
  const { numbers, late } = unsentOf(heads, checkpoints, NOW, 600_000);
  expect(numbers).toEqual([1, 3, 4]);
  expect(late).toEqual([head(2, NOW + 5)]);
});

test('what no checkpoint tells of is sent at once and whenever the patience has passed, at a look every minute', () => {
  const sent = Array.from({ length: 31 }, (_, minute) =>
    dueByAge([head(0, NOW)], NOW + minute * MINUTE, MINUTE, 10 * MINUTE).length > 0 ? [minute] : [],
  );
  expect(sent.flat()).toEqual([0, 10, 20, 30]);
});
