import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import { KINDS, type Schedule, schedules } from './schedule.ts';
import { type Ending, type Mutant, runSchedule } from './world.ts';

/** What the schedules brought about, to know that there was a storm at all. */
export interface Seen {
  readonly deaths: number;
  readonly checkpoints: number;
  /** Schedules that had each kind of trouble. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** Runs so many schedules and holds each to what must be true of all. A failure prints its seed and its schedule. */
export async function holdSchedules(deathShares: readonly [number, ...number[]], runs: number): Promise<Seen> {
  // Redelivery is the daily bread here, and nobody reads where each was thrown.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const kinds = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0]));
  const seen = { deaths: 0, checkpoints: 0, kinds };
  const property = fc.asyncProperty(schedules(deathShares), async (schedule) => {
    const { deaths, checkpoints, ...ending } = await runSchedule(schedule);
    seen.deaths += deaths;
    seen.checkpoints += checkpoints;
    for (const [kind, isOf] of Object.entries(KINDS)) if (isOf(schedule)) kinds[kind] = (kinds[kind] ?? 0) + 1;
    expect(ending).toEqual(rightOf(ending));
  });
  try {
    // A smaller schedule is another storm: nothing would be learned from shrinking.
    await fc.assert(property, { numRuns: runs, endOnFailure: true });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return seen;
}

/** What the end of any schedule must be. */
const rightOf = ({ distinct }: Pick<Ending, 'distinct'>): Omit<Ending, 'deaths' | 'checkpoints'> => ({
  distinct,
  sum: BigInt(distinct),
  markers: distinct,
  unacknowledged: 0,
  segmentsLeft: 0,
  restsLeft: 0,
  uncommitted: 0,
  violations: [],
});

/** The first of so many schedules that finds the fault, with its place; undefined where none does. */
export async function findMutant(
  mutant: Mutant,
  runs: number,
): Promise<{ readonly schedule: Schedule; readonly after: number } | undefined> {
  const drawn = fc.sample(schedules([0, 0.01]), { numRuns: runs, seed: 20261130 });
  for (const [index, schedule] of drawn.entries()) {
    const ending = await runSchedule(schedule, mutant);
    if (!isDeepStrictEqual({ ...ending, ...rightOf(ending) }, ending)) return { schedule, after: index + 1 };
  }
  return undefined;
}

/** `SCHEDULES=50000` in the environment makes each of the two runs longer. */
export const RUNS = Number(process.env.SCHEDULES ?? 500);
