import { expect, test } from 'vitest';
import { readRunStatus } from '../../../../shared/scan/runs/run-status.ts';
import { failSplit, moveSplit } from '../../../../shared/scan/runs/split-updates.ts';
import { rangesOf, RunWorld } from '../../../support/run-world.ts';
import { progressTo } from '../../../support/slot-world.ts';

test('the status of a run counts its splits, and rows as far as slots have committed them, none twice', async () => {
  const world = new RunWorld();
  world.ranges = () => Promise.resolve(rangesOf(5));
  const { signal } = world.ended;
  expect(await readRunStatus('r1', world.store.runs, signal)).toBeUndefined();
  await world.start('r1');
  expect(await readRunStatus('r1', world.store.runs, signal)).toMatchObject({ run: { state: 'planning' }, slots: [] });
  await world.tick(world.coordinator());
  await world.finish('r1', 2, 100);
  const session = await world.take(1, 'reader');
  const moved = await world.claim(session, 'r1');
  await world.until(session.update(moveSplit(moved, progressTo('row-5', 7))));
  const returned = await world.claim(session, 'r1');
  const failure = failSplit(returned, progressTo('row-6', 3), 'NOT_FOUND: no family', world.clock.now(), () => 0.5);
  await world.until(session.update(failure));
  const status = await readRunStatus('r1', world.store.runs, signal);
  expect(status).toMatchObject({
    splits: { total: 5, done: 2, failed: 0, held: 1, waiting: 2 },
    counts: { rows: 210 },
    failing: [{ id: returned, failures: 1, problem: 'NOT_FOUND: no family' }],
  });
  expect(status?.slots.map(({ slot, owner, splits }) => [slot, owner, Object.keys(splits)])).toEqual([
    [0, '', []],
    [1, 'reader', [moved]],
  ]);
  expect(status?.slots[1]?.leaseMillis).toBeGreaterThan(50_000);
  // A position that moves on is counted once, in the slot's document.
  await world.until(session.update(moveSplit(moved, progressTo('row-7', 9))));
  expect((await readRunStatus('r1', world.store.runs, signal))?.counts.rows).toBe(212);
  await world.until(session.release());
  expect((await readRunStatus('r1', world.store.runs, signal))?.counts.rows).toBe(212);
});
