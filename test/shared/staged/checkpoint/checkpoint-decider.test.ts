import { beforeEach, describe, expect, test } from 'vitest';
import { TickWorld } from '../../../support/tick-world.ts';

let world: TickWorld;
beforeEach(() => {
  world = new TickWorld();
});

const ticked = (completed: number, committed = 0, redispatched = 0): object => ({
  kind: 'ticked',
  counts: { completed, committed, redispatched },
});

describe('a checkpoint', () => {
  test('takes all that is staged, is sent out, and is committed when everything is answered', async () => {
    await world.stage(10);
    const coordinator = world.coordinator();
    expect(await coordinator.tick(world.signal)).toEqual(ticked(1));
    expect(world.store.checkpoints).toMatchObject([
      { number: 1, state: 'completed', segments: 10, envelopes: 20, bytes: 1000, remainingSegments: 10 },
    ]);
    expect(world.heads('staged')).toEqual([]);
    expect(world.topic.messages.map(({ checkpoint, segments }) => [checkpoint, segments.length])).toEqual([
      [1, 8],
      [1, 2],
    ]);
    await world.clock.advance(3_000);
    await world.drain();
    await world.clock.advance(7_000);
    expect(await coordinator.tick(world.signal)).toEqual(ticked(0, 1));
    const completedAt = world.store.checkpoints[0]?.completedAt ?? 0;
    expect(world.store.checkpoints).toMatchObject([
      { state: 'committed', remainingSegments: 0, committedAt: completedAt + 3_000 },
    ]);
    expect(world.metrics.snapshot()).toMatchObject({
      counters: { checkpointsCompleted: 1, checkpointsCommitted: 1 },
      distributions: { timeToVisibility: { count: 1, max: 3_000 } },
    });
  });

  test('what is staged after it belongs to the next one', async () => {
    await world.stage(1);
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    await world.stage(2);
    await world.clock.advance(10_000);
    await coordinator.tick(world.signal);
    expect(world.store.checkpoints.map(({ number, segments }) => [number, segments])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test('is not made of nothing', async () => {
    const coordinator = world.coordinator();
    expect(await coordinator.tick(world.signal)).toEqual(ticked(0));
    expect(world.store.checkpoints).toEqual([]);
    expect(world.store.pipeline).toMatchObject({ lastCheckpoint: 0, lease: { epoch: 1 } });
  });

  test('waits for its interval, give or take a tick that comes a little early', async () => {
    await world.stage(1);
    const coordinator = world.coordinator({ checkpointIntervalMillis: 30_000 });
    expect(await coordinator.tick(world.signal)).toEqual(ticked(1));
    await world.stage(1);
    for (const expected of [0, 0, 1]) {
      await world.clock.advance(9_990);
      expect(await coordinator.tick(world.signal)).toEqual(ticked(expected));
    }
  });

  test.each([
    ['entries', { maxStagedEntries: 10 }, { envelopes: 2 }],
    ['bytes, each envelope with 256 more', { maxStagedBytes: 4 * 612 + 2 * 256 }, { envelopes: 1, bytes: 356 }],
  ])('comes early when %s near the cap', async (_case, caps, size) => {
    const coordinator = world.coordinator({ checkpointIntervalMillis: 600_000, ...caps });
    await world.stage(1, size);
    await coordinator.tick(world.signal);
    await world.stage(3, size);
    await world.clock.advance(10_000);
    expect(await coordinator.tick(world.signal)).toEqual(ticked(0));
    await world.stage(1, size);
    await world.clock.advance(10_000);
    expect(await coordinator.tick(world.signal)).toEqual(ticked(1));
  });

  test('of more than a commit can hold is followed by another in the same tick', async () => {
    await world.stage(700, { envelopes: 1, bytes: 1 });
    expect(await world.coordinator().tick(world.signal)).toEqual(ticked(3));
    expect(world.store.checkpoints.map(({ segments }) => segments)).toEqual([300, 300, 100]);
    expect(world.store.pipeline?.backlog).toEqual({ segments: 700, envelopes: 700, bytes: 700 });
  });

  test('is not made while too many are open: what is staged would only wait behind them', async () => {
    const coordinator = world.coordinator();
    for (let tick = 0; tick < 102; tick += 1) {
      await world.stage(1);
      await coordinator.tick(world.signal);
      await world.clock.advance(10_000);
    }
    expect(world.store.checkpoints).toHaveLength(100);
    expect(world.heads('staged')).toHaveLength(2);
    expect(world.store.pipeline?.backlog.segments).toBe(102);
    await world.settle();
    expect(world.store.checkpoints.map(({ segments }) => segments).at(-1)).toBe(2);
  });
});

describe('work that is not finished', () => {
  test('is sent again when its lease ran out, with growing patience up to ten minutes', async () => {
    await world.stage(1);
    const coordinator = world.coordinator();
    const sent: number[] = [];
    for (let second = 0; second <= 3_000; second += 10) {
      await coordinator.tick(world.signal);
      if (world.topic.messages.splice(0).length > 0) sent.push(second);
      await world.clock.advance(10_000);
    }
    expect(sent).toEqual([0, 40, 110, 240, 490, 980, 1590, 2200, 2810]);
    expect(world.heads('owned')[0]?.lease?.attempts).toBe(8);
    expect(world.metrics.snapshot().counters.segmentsRedispatched).toBe(8);
  });

  test('that a committer still holds is left to it', async () => {
    await world.stage(1);
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    const ids = world.staged;
    const [segment] = await world.store.committing.readSegments(ids, world.signal);
    const lease = { holder: 'committer', expiresAt: world.clock.now() + 60_000, attempts: 0 };
    await world.store.committing.lease([{ id: ids[0]!, version: segment!.version, lease }], world.signal);
    world.topic.messages.length = 0;
    await world.clock.advance(50_000);
    expect(await coordinator.tick(world.signal)).toEqual(ticked(0));
    await world.clock.advance(20_000);
    expect(await coordinator.tick(world.signal)).toEqual(ticked(0, 0, 1));
    expect(world.topic.messages).toMatchObject([{ checkpoint: 1, segments: ids }]);
  });

  test('of many segments goes out over several commits of one tick', async () => {
    await world.stage(250, { envelopes: 1, bytes: 1 });
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    world.topic.messages.length = 0;
    await world.clock.advance(40_000);
    expect(await coordinator.tick(world.signal)).toEqual(ticked(0, 0, 250));
    expect(world.topic.messages.flatMap(({ segments }) => segments).toSorted()).toEqual(world.staged.toSorted());
  });

  test('under a lease of a clock that is far ahead is sent again all the same', async () => {
    await world.stage(1);
    await world.coordinator({}, 3_600_000).tick(world.signal);
    world.topic.messages.length = 0;
    await world.clock.advance(40_000);
    const coordinator = world.coordinator();
    let redispatched = 0;
    for (let second = 0; second <= 1200 && redispatched === 0; second += 10) {
      const outcome = await coordinator.tick(world.signal);
      if (outcome.kind === 'ticked') redispatched += outcome.counts.redispatched ?? 0;
      await world.clock.advance(10_000);
    }
    expect(redispatched).toBe(1);
  });
});

describe('two coordinators', () => {
  test('the second finds the lease held, and changes nothing', async () => {
    await world.coordinator().tick(world.signal);
    await world.stage(1);
    const before = world.store.pipeline;
    const second = world.coordinator();
    expect(await second.tick(world.signal)).toMatchObject({ kind: 'held', by: 'coordinator-1' });
    expect(world.store.pipeline).toEqual(before);
    await second.release(world.signal);
    expect(world.store.pipeline).toEqual(before);
  });

  test('a lease that was given back is taken at once, in a new epoch', async () => {
    const first = world.coordinator();
    await first.tick(world.signal);
    await first.release(world.signal);
    expect(await world.coordinator().tick(world.signal)).toEqual(ticked(0));
    expect(world.store.pipeline?.lease).toMatchObject({ owner: 'coordinator-2', epoch: 2 });
  });

  test('that read the same make one checkpoint: the slower one conflicts, reads again, and finds the lease held', async () => {
    await world.stage(3);
    const [first, second] = [world.coordinator(), world.coordinator()];
    const outcomes = await Promise.all([first.tick(world.signal), second.tick(world.signal)]);
    expect(outcomes).toMatchObject([ticked(1), { kind: 'held', by: 'coordinator-1' }]);
    expect(world.store.checkpoints).toHaveLength(1);
    expect(world.topic.messages).toHaveLength(1);
  });

  test('a zombie that comes back after its lease was taken can complete nothing', async () => {
    await world.stage(1);
    const zombie = world.coordinator();
    // It reads, and then stands still for a minute before its commit.
    world.store.fault = ({ method, number }) =>
      method === 'commit' && number <= 4 ? { delayMillis: 60_000 } : undefined;
    const late = zombie.tick(world.signal);
    await world.clock.advance(1_000);
    world.store.fault = () => undefined;
    await world.coordinator().tick(world.signal);
    await world.stage(1);
    await world.clock.advance(20_000);
    await world.clock.advance(39_500);
    expect(await late).toMatchObject({ kind: 'ticked' });
    await world.settle();
    for (const owners of world.owners.values()) expect(owners.size).toBe(1);
    expect(world.store.checkpoints.reduce((sum, { segments }) => sum + segments, 0)).toBe(2);
  });
});

test('a tick that conflicts twice leaves it to the next one', async () => {
  await world.stage(1);
  world.store.fault = ({ method }) => (method === 'commit' ? 'conflict' : undefined);
  const coordinator = world.coordinator();
  expect(await coordinator.tick(world.signal)).toEqual(ticked(0));
  expect(world.store.calls.filter(({ method }) => method === 'commit')).toHaveLength(2);
  world.store.fault = () => undefined;
  expect(await coordinator.tick(world.signal)).toEqual(ticked(1));
});

test('the gauges tell the backlog and the age of the oldest uncommitted work', async () => {
  await world.stage(2);
  await world.clock.advance(4_000);
  const coordinator = world.coordinator();
  await coordinator.tick(world.signal);
  await world.clock.advance(1_000);
  expect(world.metrics.snapshot().gauges).toEqual({
    stagedBacklogSegments: 2,
    stagedBacklogEnvelopes: 4,
    stagedBacklogBytes: 200,
    checkpointAge: 5_000,
  });
  await world.drain();
  await world.clock.advance(9_000);
  await coordinator.tick(world.signal);
  expect(world.metrics.snapshot().gauges).toEqual({
    stagedBacklogSegments: 0,
    stagedBacklogEnvelopes: 0,
    stagedBacklogBytes: 0,
    checkpointAge: 0,
  });
});

describe('what is billed', () => {
  test('an idle tick costs three reads and a write', async () => {
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    Object.assign(world.store.billed, { reads: 0, writes: 0, deletes: 0 });
    await world.clock.advance(10_000);
    await coordinator.tick(world.signal);
    expect(world.store.billed).toEqual({ reads: 3, writes: 1, deletes: 0 });
  });

  test('a healthy tick over an open checkpoint of many segments costs no more', async () => {
    await world.stage(200);
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    Object.assign(world.store.billed, { reads: 0, writes: 0, deletes: 0 });
    await world.clock.advance(10_000);
    await coordinator.tick(world.signal);
    expect(world.store.billed).toEqual({ reads: 3, writes: 1, deletes: 0 });
  });

  test.each([
    ['the tick', 10_000],
    ['a minute', 60_000],
  ])('a segment costs at most six operations over its life, with an interval of %s', async (_case, interval) => {
    const coordinator = world.coordinator({ checkpointIntervalMillis: interval });
    await coordinator.tick(world.signal);
    Object.assign(world.store.billed, { reads: 0, writes: 0, deletes: 0 });
    let ticks = 0;
    for (let second = 0; second < 130; second += 10) {
      await world.stage(100, { envelopes: 1, bytes: 1 });
      await world.clock.advance(10_000);
      await coordinator.tick(world.signal);
      ticks += 1;
      // A committer reads each segment once, takes its lease once and deletes it.
      for (const { segments } of world.topic.messages.splice(0)) {
        const found = await world.store.committing.readSegments(segments, world.signal);
        const lease = { holder: 'committer', expiresAt: world.clock.now() + 30_000, attempts: 0 };
        const leases = found.map(({ head: { id }, version }) => ({ id, version, lease }));
        await world.store.committing.lease(leases, world.signal);
        const heads = found.map(({ head }) => head);
        await world.store.committing.finish(heads, world.clock.now(), world.signal);
      }
    }
    const { reads, writes, deletes } = world.store.billed;
    // Besides what each segment costs: a tick its reads and its write, a checkpoint its document, a finish its countdown.
    const besides = 6 * ticks + 1300 / 8 + world.store.checkpoints.length;
    const perSegment = (reads + writes + deletes - besides) / world.staged.length;
    expect(world.store.segments.length).toBe(0);
    expect(perSegment).toBeLessThanOrEqual(interval === 10_000 ? 6 : 7);
  });
});
