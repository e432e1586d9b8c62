import { expect, test } from 'vitest';
import { StoreError } from '../../../shared/model/store.ts';
import { splitId } from '../../../shared/scan/runs/split.ts';
import { moveSplit } from '../../../shared/scan/runs/split-updates.ts';
import { openSlot } from '../../../shared/slots/open-slot.ts';
import { PLAN, progressTo, SlotWorld } from '../../support/slot-world.ts';

test('a slot that is free is taken at once, with one read and one write', async () => {
  const world = await new SlotWorld(1).planned();
  const before = { ...world.store.billed };
  const startedAt = world.clock.now();
  const session = await world.take(2, 'me');
  expect(session).toMatchObject({ slot: 2, owner: 'me', epoch: 1, units: {} });
  expect(world.clock.now()).toBe(startedAt);
  expect(world.store.billed).toMatchObject({ reads: before.reads + 1, writes: before.writes + 1 });
});

test('a start that finds its slot held ends as soon as the owner has written', async () => {
  const world = await new SlotWorld(1).planned();
  const session = await world.take(0, 'owner');
  const opened = openSlot(0, 'late', world.dependencies(), world.ended.signal);
  await world.clock.advance(2_000);
  await world.until(session.update({ edit: (units) => ({ units, changes: [] }) }));
  const startedAt = world.clock.now();
  expect(await world.until(opened)).toEqual({ kind: 'held', by: 'owner' });
  expect(world.clock.now() - startedAt).toBeLessThanOrEqual(5_000);
});

test('a slot whose owner was killed is taken over when its lease has run out, and not a minute later', async () => {
  const world = await new SlotWorld(1).planned();
  const dies = new AbortController();
  const dead = await world.take(0, 'dead', dies.signal);
  await world.claims(dead)(1);
  await world.until(dead.update(moveSplit(splitId(PLAN, 0), progressTo('row-5', 50))));
  const diedAt = world.clock.now();
  dies.abort(new Error('killed'));
  const session = await world.take(0, 'next');
  expect(world.clock.now() - diedAt).toBeLessThanOrEqual(61_000);
  expect(session.epoch).toBe(2);
  expect(world.split(0)).toMatchObject({ state: { kind: 'waiting' }, counts: { rows: 50 } });
});

test('of two that take a slot at once one has it', async () => {
  const world = await new SlotWorld(1).planned();
  const { signal } = world.ended;
  const both = ['a', 'b'].map((owner) => openSlot(0, owner, world.dependencies(), signal));
  const opened = await world.until(Promise.all(both));
  const owner = world.store.slot(0)?.owner;
  expect(opened.map((one) => (one.kind === 'taken' ? one.session.owner : one.by))).toEqual([owner, owner]);
  expect(opened.filter(({ kind }) => kind === 'taken')).toHaveLength(1);
});

test.each(['error-after', 'error-before', 'conflict', { lateMillis: 10_100 }, { delayMillis: 15_000 }] as const)(
  'a slot whose taking ends with %o is taken once in the end',
  async (fault) => {
    const world = await new SlotWorld(1).planned();
    let isOver = false;
    world.store.fault = ({ method }) => {
      if (isOver || method !== 'commitSlot') return undefined;
      isOver = true;
      return fault;
    };
    const session = await world.take(0, 'me');
    expect(session.epoch).toBe(1);
    await world.clock.advance(30_000);
    expect(await world.until(session.update({ edit: (units) => ({ units, changes: [] }) }))).toBe('written');
  },
);

test('a store that refuses for good ends the start, and one that is away is waited for', async () => {
  const world = await new SlotWorld(1).planned();
  const dependencies = world.dependencies();
  const refusing = {
    ...dependencies.store,
    readSlot: () => Promise.reject(new StoreError('read a slot', 'PERMISSION_DENIED', 'no')),
  };
  const refused = openSlot(0, 'me', { ...dependencies, store: refusing }, world.ended.signal);
  await expect(world.until(refused)).rejects.toThrow('PERMISSION_DENIED');
  world.store.fault = () => 'error-before';
  const opened = openSlot(0, 'me', dependencies, world.ended.signal);
  await world.clock.advance(30_000);
  world.store.fault = () => undefined;
  expect((await world.until(opened)).kind).toBe('taken');
});
