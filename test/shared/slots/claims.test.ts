import { expect, test } from 'vitest';
import { NO_COUNTS, splitId } from '../../../shared/scan/runs/split.ts';
import { finishSplit, moveSplit, returnSplit } from '../../../shared/scan/runs/split-updates.ts';
import { PLAN, progressTo, type ScanSession, SlotWorld } from '../../support/slot-world.ts';

const placesOf = (session: ScanSession): number[] =>
  Object.keys(session.units).map((id) => Number(id.slice(PLAN.length + 1)));

test('four slots share eight splits, two each, and the fifth takes what it finds after three seconds', async () => {
  const world = await new SlotWorld(8).planned();
  const sessions: ScanSession[] = [];
  for (const slot of [0, 1, 2]) {
    const session = await world.take(slot, `owner-${slot}`);
    await world.claims(session, 4)(4);
    sessions.push(session);
  }
  expect(sessions.map(placesOf)).toEqual([
    [0, 1],
    [2, 3],
    [4, 5],
  ]);
  const [first] = sessions;
  await world.claims(first!, 4)(4);
  expect(placesOf(first!)).toEqual([0, 1]);
  // The slot that never comes holds up nothing.
  await world.clock.advance(3_000);
  await world.claims(first!, 4)(4);
  expect(placesOf(first!)).toEqual([0, 1, 6, 7]);
});

test('splits are taken in their turn: those that were given back go behind those that wait', async () => {
  const world = await new SlotWorld(4).planned();
  const session = await world.take(0, 'me');
  const look = world.claims(session);
  await look(2);
  await world.clock.advance(1_000);
  await world.until(session.update(returnSplit(splitId(PLAN, 0), undefined, world.clock.now())));
  await world.until(session.update(finishSplit(splitId(PLAN, 1), progressTo('z', 1))));
  await look(2);
  expect(placesOf(session)).toEqual([2, 3]);
  await look(3);
  expect(placesOf(session)).toEqual([2, 3, 0]);
});

test('a split whose time has not come is not seen', async () => {
  const world = await new SlotWorld(1).planned();
  const session = await world.take(0, 'me');
  const look = world.claims(session);
  await look(1);
  await world.until(session.update(returnSplit(splitId(PLAN, 0), undefined, world.clock.now() + 5_000)));
  expect(await look(1)).toEqual({ taken: 0, hasMore: false });
  await world.clock.advance(5_000);
  expect(await look(1)).toMatchObject({ taken: 1 });
});

test('of two slots that claim the same split at once one gets it, and the positions of the other are written all the same', async () => {
  const world = await new SlotWorld(2).planned();
  const [left, right] = [await world.take(0, 'left'), await world.take(1, 'right')];
  await world.claims(right, 1)(1);
  const { signal } = world.ended;
  // Both read before either claims.
  const [waiting] = await world.store.slots.readWaiting('run-1', world.plan, world.clock.now(), 1, signal);
  const { split, version } = waiting!;
  const claim = (session: ScanSession) =>
    session.update({
      isClaim: true,
      edit: (units) => ({
        units: { ...units, [split.id]: { run: split.run, range: split.range, counts: NO_COUNTS, failures: 0 } },
        changes: [{ split: { ...split, state: { kind: 'held', slot: session.slot, epoch: session.epoch } }, version }],
      }),
    });
  expect(await world.until(claim(left))).toBe('written');
  const both = [claim(right), right.update(moveSplit(splitId(PLAN, 0), progressTo('row-5', 50)))];
  expect(await world.until(Promise.all(both))).toEqual(['conflict', 'written']);
  expect(placesOf(left)).toEqual([1]);
  expect(right.units).toMatchObject({ [splitId(PLAN, 0)]: { counts: { rows: 50 } } });
  expect(placesOf(right)).toEqual([0]);
});

test('what a slot had whose owner fell silent is anybody’s: it waits with its last position, and is claimed at the next look', async () => {
  const world = await new SlotWorld(2).planned();
  const dies = new AbortController();
  const dead = await world.take(1, 'dead', dies.signal);
  await world.claims(dead)(2);
  await world.until(dead.update(moveSplit(splitId(PLAN, 0), progressTo('row-5', 50))));
  dies.abort(new Error('killed'));
  const session = await world.take(0, 'me');
  const look = world.claims(session, 1);
  expect(await look(2)).toEqual({ taken: 0, hasMore: false });
  await world.clock.advance(60_000);
  expect(await look(2)).toEqual({ taken: 0, hasMore: true });
  expect(world.store.slot(1)).toMatchObject({ owner: '', epoch: 2, units: {} });
  expect(await look(2)).toMatchObject({ taken: 2 });
  expect(session.units).toMatchObject({ [splitId(PLAN, 0)]: { counts: { rows: 50 } } });
});

test('tiny splits are claimed many in one commit', async () => {
  const world = await new SlotWorld(300).planned();
  const session = await world.take(0, 'me');
  const look = world.claims(session, 2);
  const before = world.store.calls.length;
  // The share of one of two slots, and no more.
  expect(await look(200)).toEqual({ taken: 150, hasMore: false });
  const commits = world.store.calls.slice(before).filter(({ method }) => method === 'commitSlot');
  expect(commits).toHaveLength(1);
});

test('a look that the store does not answer finds nothing, and ends', async () => {
  const world = await new SlotWorld(1).planned();
  const session = await world.take(0, 'me');
  const look = world.claims(session);
  world.store.fault = ({ method }) => (method === 'readWaiting' ? { lateMillis: 900_000 } : undefined);
  expect(await look(1)).toEqual({ taken: 0, hasMore: false });
  expect(world.runtime.lines.join('\n')).toContain('a look at what waits failed');
});
