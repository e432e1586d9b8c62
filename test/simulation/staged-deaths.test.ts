import { expect, test } from 'vitest';
import { holdSchedules, RUNS } from './staged/hold.ts';

test(`under any of ${RUNS} schedules in which stagers, coordinators and committers die at any await, every publication counts exactly once`, async () => {
  const { deaths, checkpoints, kinds } = await holdSchedules([0.01, 0.05], RUNS);
  expect(deaths).toBeGreaterThan(2 * RUNS);
  expect(checkpoints).toBeGreaterThan(1.5 * RUNS);
  for (const [kind, count] of Object.entries(kinds)) expect(count, kind).toBeGreaterThanOrEqual(RUNS / 20);
}, 600_000);
