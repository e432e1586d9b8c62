import { expect, test } from 'vitest';
import { holdSchedules, RUNS } from './staged/hold.ts';

test(`under any of ${RUNS} schedules of duplicates, losses, delays and lost answers every publication counts exactly once`, async () => {
  const { deaths, checkpoints } = await holdSchedules([0], RUNS);
  expect(deaths).toBe(0);
  expect(checkpoints).toBeGreaterThan(2 * RUNS);
}, 600_000);
