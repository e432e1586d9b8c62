import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCalm, KINDS, schedules } from './change-stream/schedule.ts';
import { runSchedule } from './change-stream/world.ts';

const RUNS = Number(process.env.SCHEDULES ?? 60);

test(
  `a source hands on every change at least once, in the order of each row, whatever fails and however partitions change (${RUNS} schedules)`,
  { timeout: 3_600_000 },
  async () => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    const kinds: Record<string, number> = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0]));
    let deaths = 0;
    let takenOver = 0;
    let closes = 0;
    const property = fc.asyncProperty(schedules, async (schedule) => {
      const ending = await runSchedule(schedule);
      deaths += ending.deaths;
      takenOver += ending.takenOver;
      closes += ending.closes;
      for (const [kind, isOf] of Object.entries(KINDS)) if (isOf(schedule)) kinds[kind] = (kinds[kind] ?? 0) + 1;
      expect(ending.violations).toEqual([]);
      expect(ending.published).toBe(ending.wanted);
      if (isCalm(schedule)) expect(ending.repeated).toBe(0);
    });
    try {
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    for (const [kind, count] of Object.entries(kinds))
      expect(count, kind).toBeGreaterThanOrEqual(Math.floor(RUNS / 20));
    expect(deaths).toBeGreaterThan(0);
    expect(takenOver).toBeGreaterThan(0);
    expect(closes).toBeGreaterThan(0);
  },
);
