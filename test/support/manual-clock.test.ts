import { expect, test } from 'vitest';
import { ManualClock } from './manual-clock.ts';

test('timers run at their own times, in order, those of equal times as they were made', async () => {
  const clock = new ManualClock(1000);
  const ran: string[] = [];
  const note = (name: string) => () => ran.push(`${name}@${clock.now()}`);
  clock.after(20, note('b'));
  clock.after(10, note('a'));
  clock.after(20, note('c'));
  clock.after(31, note('late'));
  await clock.advance(30);
  expect(ran).toEqual(['a@1010', 'b@1020', 'c@1020']);
  expect(clock.now()).toBe(1030);
  expect(clock.pending).toBe(1);
});

test('promises settle between two timers, and what they set runs in the same advance', async () => {
  const clock = new ManualClock(0);
  const ran: string[] = [];
  const first = new Promise<void>((resolve) => clock.after(10, resolve));
  const chain = first
    .then(() => undefined)
    .then(() => {
      clock.after(5, () => ran.push(`set by the promise@${clock.now()}`));
    });
  clock.after(12, () => ran.push(`timer@${clock.now()}`));
  await clock.advance(20);
  await chain;
  expect(ran).toEqual(['timer@12', 'set by the promise@15']);
});

test('a soon callback runs without time passing, before any timer', async () => {
  const clock = new ManualClock(0);
  const ran: string[] = [];
  clock.after(0, () => ran.push('timer'));
  clock.soon(() => ran.push('soon'));
  expect(clock.pending).toBe(2);
  expect(ran).toEqual([]);
  await clock.advance(0);
  expect(ran).toEqual(['soon', 'timer']);
  expect(clock.pending).toBe(0);
});

test('a cancelled timer never runs and is not pending', async () => {
  const clock = new ManualClock();
  const cancel = clock.after(10, () => {
    throw new Error('ran');
  });
  cancel();
  expect(clock.pending).toBe(0);
  await clock.advance(100);
});

test('what a callback throws rejects the advance, and the clock can go on', async () => {
  const clock = new ManualClock(0);
  clock.after(10, () => {
    throw new Error('from the callback');
  });
  await expect(clock.advance(20)).rejects.toThrow('from the callback');
  await clock.advance(5);
  expect(clock.now()).toBe(15);
});

test('two advances at once are refused', async () => {
  const clock = new ManualClock();
  const first = clock.advance(10);
  await expect(clock.advance(10)).rejects.toThrow('being advanced already');
  await first;
});
