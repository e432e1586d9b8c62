import { expect, test } from 'vitest';
import { WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { countsSoFar, readRunStatus } from '../../../../shared/scan/runs/run-status.ts';
import { NO_COUNTS, type Split, type SplitState } from '../../../../shared/scan/runs/split.ts';
import { failSplit, finishSplit, moveSplit } from '../../../../shared/scan/runs/split-updates.ts';
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

const rowsOf = (rows: number) => ({ ...NO_COUNTS, rows });

/** A split of 10 rows by its own document. */
const own = (state: SplitState): Split => ({ ...HELD, id: 's-0', counts: rowsOf(10), state });
const HELD = { run: 'r1', range: WHOLE_TABLE, counts: rowsOf(15), failures: 0 };
const SLOTS = [{ slot: 1, epoch: 4, splits: { 's-0': HELD } }];

test.each<readonly [string, SplitState, number, boolean]>([
  ['its slot, where the epochs agree', { kind: 'held', slot: 1, epoch: 4 }, 105, true],
  ['its own document, where another epoch of that slot has it', { kind: 'held', slot: 1, epoch: 5 }, 100, false],
  ['its own document, where another slot has it', { kind: 'held', slot: 2, epoch: 4 }, 100, false],
  ['its own document, where it waits', { kind: 'waiting', since: 0 }, 100, false],
  ['its own document, where it is done', { kind: 'done' }, 100, false],
])('the position of a split is the one of %s', (_where, state, rows, isSettled) => {
  expect(countsSoFar(rowsOf(100), SLOTS, [own(state)])).toEqual({ counts: rowsOf(rows), isSettled });
});

test('a split that changes hands while its run is looked at is looked at again, and counts once', async () => {
  const world = new RunWorld();
  world.ranges = () => Promise.resolve(rangesOf(2));
  await world.start('r1');
  await world.tick(world.coordinator());
  const session = await world.take(1, 'reader');
  const id = await world.claim(session, 'r1');
  await world.until(session.update(moveSplit(id, progressTo('row-5', 7))));
  const { runs } = world.store;
  let isOver = false;
  const moving = {
    ...runs,
    readSlots: async (signal: AbortSignal) => {
      const slots = await runs.readSlots(signal);
      if (!isOver) await world.until(session.update(finishSplit(id, progressTo('z', 9))));
      isOver = true;
      return slots;
    },
  };
  const status = await readRunStatus('r1', moving, world.ended.signal);
  expect(status).toMatchObject({ splits: { done: 1, held: 0 }, counts: { rows: 9 } });
});
