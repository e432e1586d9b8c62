import { expect, test } from 'vitest';
import { holdSchedules, RUNS } from './staged/hold.ts';

test(`under any of ${RUNS} schedules in which stagers, coordinators and committers die at any await, every publication counts exactly once`, async () => {
  const { deaths, checkpoints } = await holdSchedules([0.01, 0.05], RUNS);
  expect(deaths).toBeGreaterThan(2 * RUNS);
  expect(checkpoints).toBeGreaterThan(2 * RUNS);
}, 600_000);
