import { expect, test } from 'vitest';
import { acceleratedClock } from '../../../../infra/local/base/accelerated-clock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

test('its time is right at first, runs faster by the factor, and its timers are as much shorter', async () => {
  const clock = new ManualClock();
  const startedAt = clock.now();
  const faster = acceleratedClock(clock, 5);
  expect(faster.now()).toBe(startedAt);
  let fired = false;
  faster.after(10_000, () => {
    fired = true;
  });
  await clock.advance(1999);
  expect(fired).toBe(false);
  await clock.advance(1);
  expect(fired).toBe(true);
  expect(faster.now()).toBe(startedAt + 10_000);
  expect(faster.monotonic()).toBe(10_000);
});

test('a timer that is cancelled never fires', async () => {
  const clock = new ManualClock();
  const cancel = acceleratedClock(clock, 2).after(100, () => {
    throw new Error('it fired');
  });
  cancel();
  await clock.advance(1000);
  expect(clock.pending).toBe(0);
});

test.each([0.5, Number.NaN, Infinity])('a factor of %d is refused', (factor) => {
  expect(() => acceleratedClock(new ManualClock(), factor)).toThrow(/a finite number from 1/);
});
