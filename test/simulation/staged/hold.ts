import fc from 'fast-check';
import { expect } from 'vitest';
import { schedules } from './schedule.ts';
import { runSchedule } from './world.ts';

/** What the schedules brought about, to know that there was a storm at all. */
export interface Seen {
  readonly deaths: number;
  readonly checkpoints: number;
}

/** Runs so many schedules and holds each to what must be true of all. A failure prints its seed and its schedule. */
export async function holdSchedules(deathShares: readonly [number, ...number[]], runs: number): Promise<Seen> {
  // Redelivery is the daily bread here, and nobody reads where each was thrown.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const seen = { deaths: 0, checkpoints: 0 };
  const property = fc.asyncProperty(schedules(deathShares), async (schedule) => {
    const { deaths, checkpoints, ...ending } = await runSchedule(schedule);
    seen.deaths += deaths;
    seen.checkpoints += checkpoints;
    expect(ending).toEqual({
      distinct: ending.distinct,
      sum: BigInt(ending.distinct),
      markers: ending.distinct,
      unacknowledged: 0,
      segmentsLeft: 0,
      openCheckpoints: 0,
      violations: [],
    });
  });
  try {
    // A smaller schedule is another storm: nothing would be learned from shrinking.
    await fc.assert(property, { numRuns: runs, endOnFailure: true });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return seen;
}

/** `SCHEDULES=50000` in the environment makes each of the two runs longer. */
export const RUNS = Number(process.env.SCHEDULES ?? 5000);
