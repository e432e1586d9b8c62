import { expect, test } from 'vitest';
import { RowPace } from '../../../../../../infra/local/servers/bigtable/requests/row-pace.ts';
import { ManualClock } from '../../../../../support/manual-clock.ts';

const forEver = new AbortController().signal;

test('a row takes transactions one after the other at its pace, and holds up no other row', async () => {
  const clock = new ManualClock(0);
  const pace = new RowPace(clock, 100);
  const turns: string[] = [];
  const take = async (row: string): Promise<void> => {
    await pace.turn('t', Buffer.from(row), forEver);
    turns.push(`${row} at ${clock.now()}`);
  };
  const all = [take('hot'), take('hot'), take('hot'), take('cold')];
  await clock.advance(100);
  await Promise.all(all);
  expect(turns).toEqual(['hot at 0', 'cold at 0', 'hot at 10', 'hot at 20']);
});

test('steps below a millisecond add up', async () => {
  const clock = new ManualClock(0);
  const pace = new RowPace(clock, 2000);
  const last = Promise.all(Array.from({ length: 21 }, () => pace.turn('t', Buffer.from('hot'), forEver)));
  let isOver = false;
  const over = last.then(() => (isOver = true));
  await clock.advance(9);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await over;
  expect(clock.now()).toBe(10);
});
