import { expect, test } from 'vitest';
import { holdSchedules, RUNS } from './staged/hold.ts';

test(`under any of ${RUNS} schedules of duplicates, losses, delays and lost answers every publication counts exactly once`, async () => {
  const { deaths, checkpoints, kinds } = await holdSchedules([0], RUNS);
  expect(deaths).toBe(0);
  expect(checkpoints).toBeGreaterThan(1.5 * RUNS);
  for (const [kind, count] of Object.entries(kinds)) expect(count, kind).toBeGreaterThanOrEqual(RUNS / 20);
}, 600_000);
