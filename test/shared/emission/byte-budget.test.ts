import { expect, test } from 'vitest';
import { ByteBudget } from '../../../shared/emission/byte-budget.ts';

const { signal } = new AbortController();

test('below the cap anything is admitted, also what exceeds it', () => {
  const budget = new ByteBudget(100, () => undefined);
  expect([budget.tryTake(99), budget.tryTake(500), budget.tryTake(1)]).toEqual([true, true, false]);
  expect(budget.bytes).toBe(599);
});

test('who waits is admitted in turn, and who comes later does not pass', async () => {
  const budget = new ByteBudget(100, () => undefined);
  budget.tryTake(100);
  const order: string[] = [];
  const first = budget.take(60, signal).then(() => order.push('first'));
  const second = budget.take(60, signal).then(() => order.push('second'));
  expect(budget.tryTake(1)).toBe(false);
  budget.give(100);
  await Promise.all([first, second]);
  expect([order, budget.bytes, budget.tryTake(1)]).toEqual([['first', 'second'], 120, false]);
});

test('who gives up leaves the line with the reason of the signal, and lets those behind pass', async () => {
  const budget = new ByteBudget(100, () => undefined);
  budget.tryTake(100);
  const controller = new AbortController();
  const first = budget.take(100, controller.signal);
  const second = budget.take(10, signal);
  controller.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  budget.give(100);
  await second;
  expect(budget.bytes).toBe(10);
});

test('whoever gathers is told when somebody begins to wait, and not while there is room', async () => {
  let told = 0;
  const budget = new ByteBudget(100, () => (told += 1));
  budget.tryTake(50);
  await budget.take(50, signal);
  expect(told).toBe(0);
  const waiting = budget.take(50, signal);
  expect(told).toBe(1);
  budget.give(100);
  await waiting;
});
