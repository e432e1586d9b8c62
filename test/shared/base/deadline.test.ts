import { expect, test } from 'vitest';
import { startDeadline } from '../../../shared/base/deadline.ts';
import { DeadlineError } from '../../../shared/base/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('the signal aborts with a DeadlineError that names the budget, when it is used up and not before', async () => {
  const clock = new ManualClock(1000);
  const deadline = startDeadline(clock, 250);
  expect(deadline.at).toBe(1250);
  await clock.advance(249);
  expect(deadline.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(deadline.signal.reason).toBeInstanceOf(DeadlineError);
  expect(String(deadline.signal.reason)).toContain('250 ms');
});

test('a deadline that ended never aborts and leaves no timer', async () => {
  const clock = new ManualClock();
  const deadline = startDeadline(clock, 250);
  deadline.end();
  expect(clock.pending).toBe(0);
  await clock.advance(1000);
  expect(deadline.signal.aborted).toBe(false);
});
