import { describe, expect, test } from 'vitest';
import { splitId } from '../../../shared/scan/runs/split.ts';
import { finishSplit, moveSplit, returnSplit, waitingSplit } from '../../../shared/scan/runs/split-updates.ts';
import { LEASE_MILLIS, takeOver } from '../../../shared/slots/lease.ts';
import { SlotLostError } from '../../../shared/slots/session.ts';
import type { StoreFault } from '../../support/store-faults.ts';
import { PLAN, progressTo, RUN, SlotWorld } from '../../support/slot-world.ts';

const idOf = (place: number): string => splitId(PLAN, place);

/** A session with two splits. */
async function holding() {
  const world = await new SlotWorld(3).planned();
  const session = await world.take(0, 'first');
  await world.claims(session)(2);
  expect(Object.keys(session.units)).toEqual([idOf(0), idOf(1)]);
  return { world, session };
}

/** The next commit of a slot goes wrong, and those after it do not. */
function failNext(world: SlotWorld, fault: StoreFault): void {
  let isOver = false;
  world.store.fault = ({ method }) => {
    if (isOver || method !== 'commitSlot') return undefined;
    isOver = true;
    return fault;
  };
}

test('everything that wants to be written at one time is written in one commit, own documents of units with it', async () => {
  const { world, session } = await holding();
  const before = world.store.billed.writes;
  const attempt = world.store.slot(0)?.attempt ?? 0;
  const outcomes = await world.until(
    Promise.all([
      session.update(moveSplit(idOf(0), progressTo('row-5', 50))),
      session.update(finishSplit(idOf(1), progressTo('z', 70))),
    ]),
  );
  expect(outcomes).toEqual(['written', 'written']);
  // The slot's document, and that of the split that is done.
  expect(world.store.billed.writes - before).toBe(2);
  expect(world.store.slot(0)).toMatchObject({ owner: 'first', attempt: attempt + 1 });
  expect(session.units).toEqual({ [idOf(0)]: { run: RUN, ...progressTo('row-5', 50), failures: 0 } });
  expect(world.split(1)).toMatchObject({ state: { kind: 'done' }, counts: { rows: 70 } });
  expect(world.split(0)).toMatchObject({ state: { kind: 'held', slot: 0, epoch: 1 }, counts: { rows: 0 } });
});

test('a lease is renewed by a write of its own where nothing else was written for 20 s, and by every other write', async () => {
  const { world, session } = await holding();
  const attempt = (): number => world.store.slot(0)?.attempt ?? 0;
  const before = attempt();
  await world.clock.advance(19_000);
  expect(attempt()).toBe(before);
  await world.until(session.update(moveSplit(idOf(0), progressTo('row-5', 50))));
  await world.clock.advance(19_000);
  expect(attempt()).toBe(before + 1);
  await world.clock.advance(2_000);
  expect(attempt()).toBe(before + 2);
  expect(session.remainingMillis()).toBeGreaterThan(LEASE_MILLIS - 3_000);
});

test('a lease is counted from before its last confirmed write was sent', async () => {
  const { world, session } = await holding();
  failNext(world, { delayMillis: 9_000 });
  const update = session.update(moveSplit(idOf(0), progressTo('row-5', 50)));
  await world.until(update);
  expect(session.remainingMillis()).toBeLessThanOrEqual(LEASE_MILLIS - 9_000);
  expect(session.remainingMillis()).toBeGreaterThan(LEASE_MILLIS - 9_200);
});

describe('a write whose answer does not arrive', () => {
  test('and that happened is told as written, and nothing is written twice', async () => {
    const { world, session } = await holding();
    failNext(world, 'error-after');
    const before = world.store.billed.writes;
    expect(await world.until(session.update(finishSplit(idOf(1), progressTo('z', 70))))).toBe('written');
    expect(world.store.billed.writes - before).toBe(2);
  });

  test('and that did not happen is written again, under a number of its own', async () => {
    const { world, session } = await holding();
    const before = world.store.slot(0)?.attempt ?? 0;
    failNext(world, 'error-before');
    expect(await world.until(session.update(moveSplit(idOf(0), progressTo('row-5', 50))))).toBe('written');
    expect(world.store.slot(0)?.attempt).toBe(before + 2);
  });

  test('and that happens ten minutes later, when another is written in its place, changes nothing', async () => {
    const { world, session } = await holding();
    failNext(world, { lateMillis: 600_000 });
    expect(await world.until(session.update(moveSplit(idOf(0), progressTo('row-5', 50))))).toBe('written');
    await world.until(session.update(moveSplit(idOf(0), progressTo('row-6', 60))));
    await world.clock.advance(700_000);
    expect(world.store.slot(0)?.units[idOf(0)]?.counts.rows).toBe(60);
    expect(session.lost.aborted).toBe(false);
  });

  test('and that happens just before it is written again is found by its number, and the session goes on from it', async () => {
    const { world, session } = await holding();
    // Longer than an attempt is waited for, and shorter than it takes to look and write again.
    failNext(world, { lateMillis: 10_050 });
    const first = session.update(moveSplit(idOf(0), progressTo('row-5', 50)));
    await world.clock.advance(10_020);
    const second = session.update(moveSplit(idOf(1), progressTo('row-7', 70)));
    expect(await world.until(Promise.all([first, second]))).toEqual(['written', 'written']);
    expect(world.store.slot(0)?.units).toMatchObject({
      [idOf(0)]: { counts: { rows: 50 } },
      [idOf(1)]: { counts: { rows: 70 } },
    });
  });

  test('and that is repeated by the client itself after it happened changes nothing', async () => {
    const { world, session } = await holding();
    failNext(world, { againAfterMillis: 300_000 });
    await world.until(session.update(moveSplit(idOf(0), progressTo('row-5', 50))));
    await world.until(session.update(moveSplit(idOf(0), progressTo('row-6', 60))));
    await world.clock.advance(400_000);
    expect(world.store.slot(0)?.units[idOf(0)]?.counts.rows).toBe(60);
    expect(session.lost.aborted).toBe(false);
  });
});

test('an aborted commit is made again, though nobody else wrote', async () => {
  const { world, session } = await holding();
  failNext(world, 'conflict');
  expect(await world.until(session.update(moveSplit(idOf(0), progressTo('row-5', 50))))).toBe('written');
});

test('a lease that ran out and that nobody took goes on with the next write', async () => {
  const { world, session } = await holding();
  world.store.fault = () => 'error-before';
  await world.clock.advance(90_000);
  expect(session.remainingMillis()).toBeLessThan(0);
  world.store.fault = () => undefined;
  await world.until(session.update(moveSplit(idOf(0), progressTo('row-5', 50))));
  expect(session.lost.aborted).toBe(false);
  expect(session.remainingMillis()).toBeGreaterThan(LEASE_MILLIS - 1_000);
});

test('an owner whose slot was taken over learns it at its next write, and none of its writes happens any more', async () => {
  const { world, session } = await holding();
  await world.until(session.update(moveSplit(idOf(0), progressTo('row-5', 50))));
  const { signal } = world.ended;
  const read = await world.store.slots.readSlot(0, signal);
  const commit = takeOver(0, read!, 'second', world.clock.now(), waitingSplit);
  expect(await world.store.slots.commit(commit, signal)).toMatchObject({ kind: 'committed' });
  const update = session.update(moveSplit(idOf(0), progressTo('row-9', 90)));
  await expect(world.until(update)).rejects.toBeInstanceOf(SlotLostError);
  expect(session.lost.aborted).toBe(true);
  expect(session.remainingMillis()).toBe(0);
  expect(world.store.slot(0)).toEqual(commit.value);
  expect(world.split(0)).toMatchObject({ state: { kind: 'waiting' }, counts: { rows: 50 } });
  await expect(session.update(moveSplit(idOf(0), progressTo('row-9', 90)))).rejects.toBeInstanceOf(SlotLostError);
  await session.release();
});

test('an owner that writes nothing learns by its renewal that its slot was taken over', async () => {
  const { world, session } = await holding();
  const read = await world.store.slots.readSlot(0, world.ended.signal);
  await world.store.slots.commit(takeOver(0, read!, 'second', 0, waitingSplit), world.ended.signal);
  await world.clock.advance(21_000);
  expect(session.lost.aborted).toBe(true);
});

test('taking over writes every unit’s last position to its own document, and none is behind the slot’s', async () => {
  const { world, session } = await holding();
  await world.until(session.update(moveSplit(idOf(0), progressTo('row-5', 50))));
  const dies = new AbortController();
  const dead = await world.take(1, 'dead', dies.signal);
  await world.claims(dead)(1);
  await world.until(dead.update(moveSplit(idOf(2), progressTo('row-8', 80))));
  dies.abort(new Error('killed'));
  await world.clock.advance(61_000);
  const next = await world.take(1, 'next');
  expect(next.epoch).toBe(2);
  expect(next.units).toEqual({});
  expect(world.split(2)).toMatchObject({ state: { kind: 'waiting' }, ...progressTo('row-8', 80) });
  expect(session.lost.aborted).toBe(false);
});

test('a slot whose units end by the hundred writes its document about once a second, many of them with each write', async () => {
  const world = await new SlotWorld(400).planned();
  const session = await world.take(0, 'me');
  await world.claims(session)(400);
  const commits = (): number => world.store.calls.filter(({ method }) => method === 'commitSlot').length;
  const before = commits();
  const ends: Promise<unknown>[] = [];
  for (let place = 0; place < 400; place += 1) {
    await world.clock.advance(50);
    ends.push(session.update(finishSplit(idOf(place), progressTo('z', 1))));
  }
  await world.until(Promise.all(ends));
  // 20 s of them, and those that may follow at once.
  expect(commits() - before).toBeLessThanOrEqual(26);
  expect(session.units).toEqual({});
});

test('a slot that is given back waits for nothing, however much it wrote just before', async () => {
  const { world, session } = await holding();
  for (let row = 1; row < 6; row += 1) {
    await world.until(session.update(moveSplit(idOf(0), progressTo(`row-5${row}`, row))));
  }
  const update = session.update(moveSplit(idOf(0), progressTo('row-6', 60)));
  const startedAt = world.clock.now();
  await world.until(session.release());
  expect(await update).toBe('written');
  expect(world.clock.now() - startedAt).toBeLessThanOrEqual(1_100);
});

test('giving back writes what waits, then every unit to its own document, and the slot is nobody’s', async () => {
  const { world, session } = await holding();
  const update = session.update(moveSplit(idOf(0), progressTo('row-5', 50)));
  await world.until(session.release());
  expect(await update).toBe('written');
  expect(world.store.slot(0)).toMatchObject({ owner: '', units: {} });
  expect(world.split(0)).toMatchObject({ state: { kind: 'waiting' }, counts: { rows: 50 } });
  expect(world.split(1)).toMatchObject({ state: { kind: 'waiting' }, counts: { rows: 0 } });
  await expect(session.update(moveSplit(idOf(0), progressTo('row-6', 60)))).rejects.toBeInstanceOf(SlotLostError);
  const next = await world.take(0, 'next');
  expect(next.epoch).toBe(2);
});

test.each(['error-after', 'error-before', 'conflict'] as const)(
  'giving back that ends with %s is done once in the end',
  async (fault) => {
    const { world, session } = await holding();
    failNext(world, fault);
    await world.until(session.release());
    expect(world.store.slot(0)).toMatchObject({ owner: '', units: {} });
    expect(world.split(0)?.state.kind).toBe('waiting');
  },
);

test('an update of a unit that is not the slot’s any more is moot, and the others are written', async () => {
  const { world, session } = await holding();
  const updates = [
    session.update(returnSplit(idOf(0), undefined, world.clock.now())),
    session.update(moveSplit(idOf(0), progressTo('row-5', 50))),
    session.update(moveSplit(idOf(1), progressTo('row-6', 60))),
  ];
  expect(await world.until(Promise.all(updates))).toEqual(['written', 'moot', 'written']);
});

test('an update that throws is told so, and hinders no other', async () => {
  const { world, session } = await holding();
  const wrong = session.update({
    edit: () => {
      throw new TypeError('wrong');
    },
  });
  const right = session.update(moveSplit(idOf(1), progressTo('row-6', 60)));
  await expect(world.until(wrong)).rejects.toThrow('wrong');
  expect(await world.until(right)).toBe('written');
});

test('the end of the session’s signal ends every wait', async () => {
  const world = await new SlotWorld(1).planned();
  const end = new AbortController();
  const session = await world.take(0, 'first', end.signal);
  await world.claims(session)(1);
  world.store.fault = () => 'error-before';
  const update = session.update(moveSplit(idOf(0), progressTo('row-5', 50)));
  const release = session.release();
  const ended = Promise.allSettled([update, release]);
  await world.clock.advance(1_000);
  end.abort(new Error('the instance ends'));
  const reason = { status: 'rejected', reason: new Error('the instance ends') };
  expect(await world.until(ended)).toEqual([reason, reason]);
  expect(world.clock.pending).toBe(0);
});
