import { expect, test } from 'vitest';
import { figuresOf, isUnattended } from '../../../../functions/cli/scan/figures.ts';
import type { Run } from '../../../../shared/scan/runs/run.ts';
import type { RunStatus, SlotStatus } from '../../../../shared/scan/runs/run-status.ts';
import { NO_COUNTS } from '../../../../shared/scan/runs/split.ts';

const SLOT: SlotStatus = { slot: 0, owner: 'reader', epoch: 1, leaseMillis: 30_000, splits: {} };

/** A run that reads since 1,000 ms: a quarter of its splits is done, with 600 rows of 100 B. */
const statusOf = (run: Partial<Run> = {}, change: Partial<RunStatus> = {}): RunStatus => ({
  run: {
    ...{ id: 'r1', state: 'reading', startedAt: 0, readingSince: 1_000, dead: [], isTold: false },
    ...run,
  },
  splits: { total: 40, done: 10, failed: 0, held: 4, waiting: 26 },
  counts: { ...NO_COUNTS, rows: 600, bytes: 60_000 },
  slots: [SLOT],
  failing: [],
  ...change,
});

test('the first look tells the rate since the run began to read', () => {
  expect(figuresOf(statusOf(), 61_000)).toMatchObject({ rowsPerSecond: 10, bytesPerSecond: 1_000 });
});

test('each look after it tells the rate since the one before', () => {
  const before = { at: 51_000, rows: 300, bytes: 0 };
  expect(figuresOf(statusOf(), 61_000, before)).toMatchObject({ rowsPerSecond: 30, bytesPerSecond: 6_000 });
});

test('a run that ended has the rate of all of it, and no remainder', () => {
  const ended = statusOf({ state: 'done', endedAt: 31_000 });
  expect(figuresOf(ended, 900_000, { at: 800_000, rows: 600, bytes: 0 })).toEqual({
    rowsPerSecond: 20,
    bytesPerSecond: 2_000,
  });
});

test('the splits that are left take as long as those that are done', () => {
  expect(figuresOf(statusOf(), 61_000).remainingMillis).toBe(180_000);
});

test('nothing is said before the run reads, and no remainder before a split is done', () => {
  const run: Run = { id: 'r1', state: 'planning', startedAt: 0, dead: [], isTold: false };
  expect(figuresOf({ ...statusOf(), run }, 61_000)).toEqual({});
  const splits = { total: 40, done: 0, failed: 0, held: 4, waiting: 36 };
  expect(figuresOf(statusOf({}, { splits }), 61_000).remainingMillis).toBeUndefined();
});

test.each<readonly [string, Partial<Run>, number, boolean]>([
  ['has a slot with a lease', {}, 30_000, false],
  ['has none for longer than a take-over takes', {}, 0, true],
  ['began a moment ago', { readingSince: 300_000 }, 0, false],
  ['is done', { state: 'done', endedAt: 2_000 }, 0, false],
])('whether nobody works on a run that %s', (_case, run, leaseMillis, isAlone) => {
  expect(isUnattended(statusOf(run, { slots: [{ ...SLOT, leaseMillis }] }), 301_000)).toBe(isAlone);
});
