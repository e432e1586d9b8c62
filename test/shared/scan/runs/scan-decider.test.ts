import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../../shared/model/store.ts';
import { planOf } from '../../../../shared/scan/runs/split.ts';
import { cancelRun } from '../../../../shared/scan/runs/start-run.ts';
import { rangesOf, RunWorld } from '../../../support/run-world.ts';
import { progressTo } from '../../../support/slot-world.ts';
import { failSplit, moveSplit } from '../../../../shared/scan/runs/split-updates.ts';

/** A run that is planned. */
async function reading(splits = 3) {
  const world = new RunWorld();
  world.ranges = () => Promise.resolve(rangesOf(splits));
  await world.start('r1');
  const coordinator = world.coordinator();
  await world.tick(coordinator);
  expect(world.run('r1').state).toBe('reading');
  return { world, coordinator };
}

describe('a pipeline without an open run', () => {
  test('costs one query a tick and no write, and its coordinator has no lease to give back', async () => {
    const world = new RunWorld();
    const coordinator = world.coordinator();
    for (let tick = 0; tick < 6; tick += 1) await world.tick(coordinator);
    await world.until(coordinator.release(world.ended.signal));
    expect(world.store.billed).toEqual({ reads: 6, writes: 0, deletes: 0 });
  });

  test('neither does a run that only reads cost a write', async () => {
    const { world, coordinator } = await reading();
    await world.tick(coordinator);
    const before = { ...world.store.billed };
    for (let tick = 0; tick < 6; tick += 1) {
      await world.clock.advance(10_000);
      await world.tick(coordinator);
    }
    expect(world.store.billed.writes).toBe(before.writes);
    // A query and a count each tick, and a look at the slots every 30 s.
    expect(world.store.billed.reads - before.reads).toBe(6 * 2 + 2);
  });
});

describe('a plan', () => {
  test('of few splits is one commit', async () => {
    const { world } = await reading(3);
    expect(world.store.calls.filter(({ method }) => method === 'commitTick')).toHaveLength(2);
    const { plan } = world.run('r1');
    expect(plan).toMatchObject({ splits: 3 });
    expect(world.store.splitsOf('r1').map(({ id, state }) => [id, state.kind])).toEqual(
      [0, 1, 2].map((place) => [`${plan?.id ?? ''}-${place}`, 'waiting']),
    );
  });

  test('of 20,000 splits is made in one tick, and no commit writes more than 500 documents', async () => {
    const writes: number[] = [];
    const world = new RunWorld();
    world.ranges = () => Promise.resolve(rangesOf(20_000));
    world.store.onTickCommit = ({ changes }) => {
      const { planned = [], expiring = [] } = changes ?? {};
      writes.push(planned.length + expiring.flatMap(({ ids }) => ids).length + 2);
    };
    await world.start('r1');
    const startedAt = world.clock.now();
    await world.tick(world.coordinator());
    expect(world.clock.now() - startedAt).toBeLessThan(5_000);
    expect(world.run('r1')).toMatchObject({ state: 'reading', plan: { splits: 20_000 } });
    expect(world.store.splitsOf('r1')).toHaveLength(20_000);
    expect(Math.max(...writes)).toBeLessThan(500);
    expect(writes.length).toBeLessThan(60);
  });

  test.each(['error-before', 'error-after'] as const)(
    'whose coordinator dies at any of its calls with the effect %s is made anew, once, and what it left has an expiry',
    async (fault) => {
      const live = async (world: RunWorld, at: number): Promise<number> => {
        let calls = 0;
        world.ranges = () => Promise.resolve(rangesOf(1_500));
        await world.start('r1');
        world.store.fault = () => ((calls += 1) === at ? fault : undefined);
        await world.tick(world.coordinator()).catch(() => undefined);
        world.store.fault = () => undefined;
        return calls;
      };
      const calls = await live(new RunWorld(), Infinity);
      expect(calls).toBeGreaterThan(10);
      for (let at = 1; at <= calls; at += 1) {
        const world = new RunWorld();
        await live(world, at);
        // The lease of the dead one runs out.
        await world.clock.advance(60_000);
        await world.tick(world.coordinator());
        const { state, plan, dead } = world.run('r1');
        expect({ state, splits: plan?.splits, dead }).toEqual({ state: 'reading', splits: 1_500, dead: [] });
        const own = world.store.splitsOf('r1').filter(({ id }) => planOf(id) === plan?.id);
        expect(own).toHaveLength(1_500);
        const orphans = world.store.splitsOf('r1').filter(({ id }) => planOf(id) !== plan?.id);
        expect(world.store.expiringOf('r1').toSorted()).toEqual(orphans.map(({ id }) => id).toSorted());
      }
    },
  );

  test('is made once by two coordinators that tick at once', async () => {
    const world = new RunWorld();
    world.ranges = () => Promise.resolve(rangesOf(900));
    await world.start('r1');
    const both = [world.coordinator(), world.coordinator()].map((one) => one.tick(world.ended.signal));
    await world.until(Promise.all(both));
    await world.clock.advance(30_000);
    await world.tick(world.coordinator());
    const { plan } = world.run('r1');
    expect(plan).toMatchObject({ splits: 900 });
    const others = world.store.splitsOf('r1').filter(({ id }) => planOf(id) !== plan?.id);
    expect(world.store.expiringOf('r1').toSorted()).toEqual(others.map(({ id }) => id).toSorted());
  });

  test('is never made again: nothing asks the table once a run reads', async () => {
    const { world, coordinator } = await reading();
    await world.finish('r1', 1);
    for (let tick = 0; tick < 10; tick += 1) {
      await world.tick(coordinator);
      await world.clock.advance(10_000);
    }
    await world.tick(world.coordinator());
    expect(world.asked).toEqual(['r1']);
  });

  test('of a table that takes its time is waited for over ticks, in each of which other runs go on', async () => {
    const world = new RunWorld();
    const answer = Promise.withResolvers<undefined>();
    world.ranges = async (run) => {
      if (run.id === 'slow') await answer.promise;
      return rangesOf(2);
    };
    await world.start('slow');
    await world.start('quick', 'allow');
    const coordinator = world.coordinator();
    await world.tick(coordinator);
    await world.tick(coordinator);
    expect([world.run('slow').state, world.run('quick').state]).toEqual(['planning', 'reading']);
    answer.resolve(undefined);
    await world.clock.advance(10_000);
    await world.tick(coordinator);
    expect(world.run('slow').state).toBe('reading');
    expect(world.asked.toSorted()).toEqual(['quick', 'slow']);
  });

  test('that fails fails its run, which says why, and is not tried again', async () => {
    const world = new RunWorld();
    world.ranges = () => Promise.reject(new Error('SampleRowKeys of p.i.t ended with NOT_FOUND: no such profile'));
    await world.start('r1');
    const coordinator = world.coordinator();
    await world.tick(coordinator);
    await world.tick(coordinator);
    expect(world.run('r1')).toMatchObject({
      state: 'failed',
      problem: 'SampleRowKeys of p.i.t ended with NOT_FOUND: no such profile',
    });
    expect(world.asked).toEqual(['r1']);
    expect(world.announced).toEqual([]);
    expect(world.runtime.metrics.snapshot().counters).toMatchObject({ scanRunsFailed: 1 });
  });

  test('that the end of its coordinator cuts short says nothing of the table', async () => {
    const world = new RunWorld();
    world.ranges = (_run, _options, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('cut short'));
        });
      });
    await world.start('r1');
    const coordinator = world.coordinator();
    await world.tick(coordinator);
    coordinator.end?.();
    await world.until(coordinator.release(world.ended.signal));
    world.ranges = () => Promise.resolve(rangesOf(1));
    await world.tick(world.coordinator());
    expect(world.run('r1').state).toBe('reading');
  });
});

describe('the end of a run', () => {
  test('comes with its last split, has the sums of all, is told, and frees its splits for good', async () => {
    const { world, coordinator } = await reading(3);
    await world.finish('r1', 2);
    await world.tick(coordinator);
    expect(world.run('r1').state).toBe('reading');
    await world.finish('r1', 1, 5);
    await world.tick(coordinator);
    expect(world.run('r1')).toMatchObject({ state: 'done', totals: { rows: 25 }, isTold: true, dead: [] });
    expect(world.announced.map(({ id, totals }) => [id, totals?.rows])).toEqual([['r1', 25]]);
    expect(world.store.expiringOf('r1')).toHaveLength(3);
    expect(world.store.pipeline?.lastDone).toEqual({ run: 'r1', startedAt: world.run('r1').startedAt });
    expect(await world.until(world.store.coordinator.readOpenRuns(world.ended.signal))).toEqual([]);
  });

  test('that is not told is told by the next coordinator, and by whoever follows one that died before it was noted', async () => {
    const { world, coordinator } = await reading(1);
    await world.finish('r1', 1);
    world.announce = () => Promise.reject(new Error('the topic is away'));
    await expect(world.tick(coordinator)).rejects.toThrow('the topic is away');
    expect(world.run('r1')).toMatchObject({ state: 'done', isTold: false });
    world.announce = () => {
      // Told, and dead before it is noted.
      world.store.fault = () => 'error-before';
      return Promise.resolve();
    };
    await world.tick(coordinator).catch(() => undefined);
    world.store.fault = () => undefined;
    world.announce = () => Promise.resolve();
    await world.clock.advance(60_000);
    await world.tick(world.coordinator());
    expect(world.run('r1').isTold).toBe(true);
    expect(world.announced).toHaveLength(2);
  });

  test('that nobody takes holds up no other run', async () => {
    const { world, coordinator } = await reading(1);
    await world.finish('r1', 1);
    world.announce = () => Promise.reject(new Error('the topic is away'));
    await world.tick(coordinator).catch(() => undefined);
    await world.start('r2');
    await world.tick(coordinator).catch(() => undefined);
    expect(world.run('r2').state).toBe('reading');
  });

  test('is a failure where a split failed ten times in a row, once everything else is done, and is not told to the topic', async () => {
    const { world, coordinator } = await reading(2);
    const session = await world.take(1, 'reader');
    const fail = async (): Promise<void> => {
      const id = await world.claim(session, 'r1', 0);
      await world.until(
        session.update(failSplit(id, undefined, 'PERMISSION_DENIED: grant it', world.clock.now(), () => 0.5)),
      );
      await world.clock.advance(600_000);
    };
    for (let attempt = 0; attempt < 10; attempt += 1) await fail();
    await expect(fail()).rejects.toThrow('does not wait');
    await world.tick(coordinator);
    expect(world.run('r1').state).toBe('reading');
    await world.finish('r1', 1);
    await world.tick(coordinator);
    expect(world.run('r1')).toMatchObject({ state: 'failed', totals: { rows: 10 } });
    expect(world.run('r1').problem).toContain('one split failed too often');
    expect(world.announced).toEqual([]);
    expect(world.store.pipeline?.lastDone).toBeUndefined();
  });
});

test('a run that is cancelled leaves no split without an expiry, and nothing of it is seen any more', async () => {
  const { world, coordinator } = await reading(1_000);
  const access = { store: world.store.runs, clock: world.clock };
  expect(await world.until(cancelRun('r1', access, world.ended.signal))).toMatchObject({ kind: 'cancelled' });
  await world.tick(coordinator);
  expect(world.store.expiringOf('r1')).toHaveLength(1_000);
  expect(world.run('r1')).toMatchObject({ state: 'cancelled', dead: [] });
  expect(await world.until(cancelRun('r1', access, world.ended.signal))).toMatchObject({ kind: 'cancelled' });
  expect(await world.until(cancelRun('r2', access, world.ended.signal))).toEqual({ kind: 'unknown' });
});

test('a run that is cancelled while it is planned has no plan, and its planner writes no further split', async () => {
  const world = new RunWorld();
  world.ranges = () => Promise.resolve(rangesOf(2_000));
  await world.start('r1');
  const access = { store: world.store.runs, clock: world.clock };
  let commits = 0;
  // The third is slow.
  world.store.fault = ({ method }) =>
    method === 'commitTick' && (commits += 1) === 3 ? { delayMillis: 2_000 } : undefined;
  const ticked = world.coordinator().tick(world.ended.signal);
  await world.clock.advance(1_000);
  await cancelRun('r1', access, world.ended.signal);
  await world.until(ticked);
  const run = world.run('r1');
  expect(run).toMatchObject({ state: 'cancelled', dead: [] });
  expect(run.plan).toBeUndefined();
  expect(world.store.splitsOf('r1')).toHaveLength(800);
  expect(world.store.expiringOf('r1')).toHaveLength(800);
});

test('a run of which nothing can be written holds up no other', async () => {
  const world = new RunWorld();
  await world.start('first');
  await world.clock.advance(1_000);
  await world.start('second', 'allow');
  const { coordinator: store } = world.store;
  Object.assign(world.store, {
    coordinator: {
      ...store,
      commit: (...given: Parameters<(typeof store)['commit']>) =>
        given[0].changes?.runs.some(({ run }) => run.id === 'first') === true
          ? Promise.reject(new StoreError('commit a tick', 'INVALID_ARGUMENT', 'too large'))
          : store.commit(...given),
    },
  });
  const coordinator = world.coordinator();
  await expect(world.tick(coordinator)).rejects.toThrow('too large');
  await world.tick(coordinator).catch(() => undefined);
  expect([world.run('first').state, world.run('second').state]).toEqual(['planning', 'reading']);
});

test('slots whose owners fell silent are freed by a coordinator too', async () => {
  const { world, coordinator } = await reading(2);
  const dies = new AbortController();
  const session = await world.take(3, 'dead', dies.signal);
  const id = await world.claim(session, 'r1');
  await world.until(session.update(moveSplit(id, progressTo('row-5', 50))));
  dies.abort(new Error('killed'));
  await world.clock.advance(61_000);
  await world.tick(coordinator);
  expect(world.store.slot(3)).toMatchObject({ owner: '', units: {}, epoch: 2 });
  const freed = world.store.splitsOf('r1').find((split) => split.id === id);
  expect(freed).toMatchObject({ state: { kind: 'waiting' }, counts: { rows: 50 } });
});

test('metrics tell of open splits, of slots that are wanted and held, and of a run that does not go on', async () => {
  const { world, coordinator } = await reading(3);
  await world.take(0, 'reader');
  await world.clock.advance(30_000);
  await world.tick(coordinator);
  const gauges = () => world.runtime.metrics.snapshot().gauges;
  expect(gauges()).toMatchObject({ splitsOpen: 3, slotsWanted: 4, slotsHeld: 1 });
  await world.clock.advance(120_000);
  await world.tick(coordinator);
  expect(gauges().runProgressAge).toBeGreaterThanOrEqual(120_000);
});
