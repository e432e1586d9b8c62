import { beforeEach, describe, expect, test } from 'vitest';
import type { SegmentHead } from '../../../../shared/staged/state.ts';
import { segmentId } from '../../../../shared/staged/segment-id.ts';
import { TickWorld } from '../../../support/tick-world.ts';

let world: TickWorld;
beforeEach(() => {
  world = new TickWorld();
});

const ticked = (completed: number, committed = 0, sent = completed): object => ({
  kind: 'ticked',
  counts: { completed, committed, sent },
});

/** One invocation of the coordinator: ticks for a minute, ten seconds apart. */
async function minuteOf(between: () => Promise<void> = () => world.drain()): Promise<void> {
  const coordinator = world.coordinator();
  for (let tick = 0; tick < 6; tick += 1) {
    await coordinator.tick(world.signal);
    await between();
    await world.clock.advance(10_000);
  }
  await coordinator.release(world.signal);
}

const rawSegment = (id: string, stagedAt = world.clock.now()) => ({
  id,
  envelopes: 1,
  payload: Buffer.alloc(10),
  stagedAt,
});

describe('a checkpoint', () => {
  test('owns all that is staged, is sent out, and is committed when nothing of it is left', async () => {
    await world.stage(10);
    const coordinator = world.coordinator();
    expect(await coordinator.tick(world.signal)).toEqual(ticked(1));
    const completedAt = world.clock.now();
    expect(world.store.checkpoints).toMatchObject([
      { number: 1, completedAt, sentAt: completedAt, amount: { segments: 10, envelopes: 20, bytes: 1000 } },
    ]);
    expect(world.topic.messages.flatMap((work) => world.inWork(work))).toHaveLength(10);
    await world.drain();
    await world.clock.advance(10_000);
    expect(await coordinator.tick(world.signal)).toEqual(ticked(0, 1));
    expect(world.store.pipeline).toMatchObject({ completed: 1, committed: 1, backlog: { segments: 0 } });
    expect(world.store.checkpoints).toMatchObject([{ committedAt: completedAt + 10_000 }]);
    expect(world.metrics.snapshot()).toMatchObject({
      counters: { checkpointsCompleted: 1, checkpointsCommitted: 1 },
      distributions: { timeToVisibility: { count: 1, max: 10_000 } },
    });
  });

  test('is not made of nothing', async () => {
    expect(await world.coordinator().tick(world.signal)).toEqual(ticked(0));
    expect(world.store.checkpoints).toEqual([]);
    expect(world.store.pipeline).toMatchObject({ completed: 0, lease: { epoch: 1 } });
  });

  test('is due once in a slot of its interval, also where a tick comes a little early', async () => {
    await world.clock.advance(30_000 - (world.clock.now() % 30_000));
    const coordinator = world.coordinator({ checkpointIntervalMillis: 30_000 });
    await world.stage(1);
    expect(await coordinator.tick(world.signal)).toEqual(ticked(1));
    for (const expected of [0, 0, 1]) {
      await world.stage(1);
      await world.clock.advance(9_990);
      expect(await coordinator.tick(world.signal)).toMatchObject({ counts: { completed: expected } });
    }
  });

  test('is due at every slot although each tick is late by another time', async () => {
    await world.clock.advance(10_000 - (world.clock.now() % 10_000));
    const coordinator = world.coordinator();
    const late = [0, 2500, 900, 3000, 0];
    for (const [index, millis] of late.entries()) {
      await world.stage(1);
      await world.clock.advance(millis);
      expect(await coordinator.tick(world.signal)).toMatchObject({ counts: { completed: 1 } });
      await world.clock.advance(10_000 - millis);
      expect(world.store.checkpoints).toHaveLength(index + 1);
    }
  });

  test.each([
    ['entries', { maxStagedEntries: 10 }, { envelopes: 2 }],
    ['bytes, each envelope with 256 more', { maxStagedBytes: 4 * 612 + 2 * 256 }, { envelopes: 1, bytes: 356 }],
  ])('comes early when %s near the cap', async (_case, caps, size) => {
    const coordinator = world.coordinator({ checkpointIntervalMillis: 3_600_000, ...caps });
    await world.stage(1, size);
    await coordinator.tick(world.signal);
    await world.stage(2, size);
    expect(await coordinator.tick(world.signal)).toMatchObject({ counts: { completed: 0 } });
    await world.stage(2, size);
    expect(await coordinator.tick(world.signal)).toMatchObject({ counts: { completed: 1 } });
  });

  test('of any number of segments costs no more than one of few: nothing is written to a segment', async () => {
    const billedFor = async (segments: number): Promise<number> => {
      world = new TickWorld();
      await world.stage(segments);
      Object.assign(world.store.billed, { reads: 0, writes: 0, deletes: 0 });
      await world.coordinator().tick(world.signal);
      const { reads, writes } = world.store.billed;
      return reads + writes;
    };
    const few = await billedFor(50);
    expect(await billedFor(5000)).toBeLessThanOrEqual(few + 6);
  });
});

describe('committed', () => {
  test('stays below the lowest segment that is left, whatever lane it is in', async () => {
    for (let lane = 0; lane < 8; lane += 1) {
      world = new TickWorld();
      await world.stage(8);
      await minuteOf(() => world.drain({ leave: ({ id }) => id.startsWith(`${lane}-`) }));
      await world.stage(8);
      await minuteOf(() => world.drain({ leave: ({ number }) => number === 1 }));
      expect(world.store.segments.map(({ id }) => id[0])).toEqual([String(lane)]);
      expect(world.store.pipeline).toMatchObject({ completed: 2, committed: 0 });
      await world.settle();
      expect(world.store.pipeline).toMatchObject({ completed: 2, committed: 2 });
    }
  });

  test('does not pass what a slow push stores below it before it is drained', async () => {
    await world.stage(4);
    await minuteOf();
    expect(world.store.pipeline).toMatchObject({ completed: 1, committed: 1 });
    await world.stage(1);
    await minuteOf();
    // A stager that read the pipeline long ago, its commit on its way for minutes.
    await world.stage(1, { number: 1 });
    await world.stage(1);
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    expect(world.store.pipeline).toMatchObject({ completed: 3, committed: 2 });
    await world.clock.advance(10_000);
    await coordinator.tick(world.signal);
    // The late one is of number 1: nothing may be told committed that was acknowledged before it.
    expect(world.store.pipeline).toMatchObject({ completed: 3, committed: 2 });
    await world.settle();
    expect(world.store.pipeline).toMatchObject({ completed: 3, committed: 3 });
  });

  test('waits for what came late below it, however long that takes to drain', async () => {
    const stuck = (head: SegmentHead): boolean => head.number === 1;
    await world.stage(1);
    await minuteOf();
    await world.stage(1, { number: 1 });
    const late = world.staged.at(-1);
    for (let minute = 0; minute < 40; minute += 1) {
      await world.stage(1);
      await minuteOf(() => world.drain({ leave: stuck }));
    }
    expect(world.store.segments.map(({ id }) => id)).toEqual([late]);
    expect(world.store.pipeline).toMatchObject({ completed: 41, committed: 1 });
    await world.settle();
    expect(world.store.pipeline).toMatchObject({ completed: 41, committed: 41 });
  });

  test('is at most what was completed before the look', async () => {
    await world.stage(1);
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    expect(world.store.pipeline?.committed).toBe(0);
    await world.drain();
    await world.stage(1);
    await world.clock.advance(10_000);
    await coordinator.tick(world.signal);
    expect(world.store.pipeline).toMatchObject({ completed: 2, committed: 1 });
  });
});

describe('work', () => {
  test('is sent again, as a whole number, only when the patience has passed', async () => {
    await world.stage(20);
    const sent: number[] = [];
    for (let minute = 0; minute < 32; minute += 1) {
      await minuteOf(() => {
        if (world.topic.messages.splice(0).length > 0) sent.push(minute);
        return Promise.resolve();
      });
    }
    // At once, again because it was stored in the same millisecond, and then every ten minutes.
    expect(sent).toEqual([0, 0, 10, 20, 30]);
    expect(world.metrics.snapshot().counters.checkpointsResent).toBe(3);
  });

  test('that was stored after the rest of its number was sent goes out at the next tick, alone', async () => {
    await world.stage(3);
    await world.clock.advance(1);
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    await world.drain({ leave: () => true });
    await world.clock.advance(500);
    await world.stage(1, { number: 1 });
    const late = world.staged.at(-1);
    await world.clock.advance(9_500);
    await coordinator.tick(world.signal);
    expect(world.topic.messages.map(({ segments }) => segments)).toEqual([[late]]);
  });

  test('whose publish failed is sent by the next tick, of another coordinator too', async () => {
    await world.stage(3);
    world.topic.fault = () => 'error-before';
    const coordinator = world.coordinator();
    await expect(coordinator.tick(world.signal)).rejects.toThrow('injected');
    await coordinator.release(world.signal);
    world.topic.fault = () => undefined;
    expect(await world.coordinator().tick(world.signal)).toEqual(ticked(0, 0, 1));
    expect(world.topic.messages.flatMap((work) => world.inWork(work))).toHaveLength(3);
  });

  test('behind any number of checkpoints that are stuck is sent again all the same', async () => {
    for (let checkpoint = 0; checkpoint < 12; checkpoint += 1) {
      await world.stage(300, { envelopes: 1, bytes: 10 });
      const coordinator = world.coordinator();
      await coordinator.tick(world.signal);
      await coordinator.release(world.signal);
      world.topic.messages.length = 0;
      await world.clock.advance(10_000);
    }
    const seen = new Set<number>();
    for (let minute = 0; minute < 15; minute += 1) {
      await minuteOf(() => {
        for (const work of world.topic.messages.splice(0))
          for (const { number } of world.inWork(work)) seen.add(number);
        return Promise.resolve();
      });
    }
    expect([...seen].toSorted((left, right) => left - right)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
  });

  test('goes on although each of a hundred checkpoints has a segment that cannot be finished', async () => {
    const stuck = new Set<string>();
    const leave = ({ id, number }: SegmentHead): boolean => {
      const isFirst = ![...stuck].some((known) => known.includes(`-${String(number).padStart(12, '0')}-`));
      if (isFirst) stuck.add(id);
      return stuck.has(id);
    };
    for (let minute = 0; minute < 25; minute += 1) {
      await minuteOf(async () => {
        await world.stage(6);
        await world.drain({ leave });
      });
    }
    expect(world.store.checkpoints.length).toBeGreaterThan(140);
    expect(world.store.segments.length).toBeLessThanOrEqual(stuck.size + 12);
  });

  test('is cut by count and by weight', async () => {
    await world.stage(64, { envelopes: 100, bytes: 1000 });
    await world.coordinator().tick(world.signal);
    const envelopes = world.topic.messages.map((work) =>
      world.inWork(work).reduce((sum, head) => sum + head.envelopes, 0),
    );
    expect(envelopes.length).toBeGreaterThanOrEqual(7);
    expect(Math.max(...envelopes)).toBeLessThanOrEqual(1600);
    expect(envelopes.reduce((sum, each) => sum + each, 0)).toBe(6400);
  });
});

describe('a full look, once a minute', () => {
  test('finds a late repeat of what was finished long ago, at once and then with patience', async () => {
    await world.stage(2);
    const [first = ''] = world.staged;
    await minuteOf();
    for (let minute = 0; minute < 20; minute += 1) {
      await world.stage(1);
      await minuteOf();
    }
    await world.store.staging.stage([rawSegment(first)], world.signal);
    const sent: number[] = [];
    for (let minute = 0; minute < 22; minute += 1) {
      await minuteOf(() => {
        if (world.topic.messages.splice(0).some(({ segments }) => segments.includes(first))) sent.push(minute);
        return Promise.resolve();
      });
    }
    expect(sent[0]).toBe(0);
    expect(sent.length).toBeLessThanOrEqual(6);
    await world.settle();
    expect(world.store.segments).toEqual([]);
  });

  test('drains segments of the format before, and committed waits for them', async () => {
    const old = '0b8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a11';
    await world.store.staging.stage([rawSegment(old)], world.signal);
    await world.stage(1);
    await minuteOf(() => world.drain({ leave: ({ id }) => id === old }));
    expect(world.store.pipeline).toMatchObject({ completed: 1 });
    expect(world.store.pipeline?.committed).toBeUndefined();
    expect(world.given.has(old)).toBe(true);
    await world.settle();
    expect(world.store.pipeline).toMatchObject({ committed: 1 });
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
  });
});

test('a tick that conflicts twice is told as such, and leaves it to the next one', async () => {
  await world.stage(1);
  world.store.fault = ({ method }) => (method === 'commit' ? 'conflict' : undefined);
  const coordinator = world.coordinator();
  expect(await coordinator.tick(world.signal)).toMatchObject({ kind: 'conflict' });
  expect(world.store.calls.filter(({ method }) => method === 'commit')).toHaveLength(2);
  world.store.fault = () => undefined;
  expect(await coordinator.tick(world.signal)).toEqual(ticked(1));
});

test('a pipeline whose document was deleted goes on from what was completed at least, by its checkpoints and segments', async () => {
  await world.stage(1);
  await minuteOf();
  await world.stage(1);
  await minuteOf();
  world.store.losePipeline();
  await world.store.staging.stage([rawSegment(segmentId(5, 3, '0'.repeat(16)))], world.signal);
  await minuteOf();
  expect(world.store.pipeline).toMatchObject({ completed: 3 });
  await world.settle();
  expect(world.store.segments).toEqual([]);
});

test('the gauges tell the backlog and the age of the oldest work of a completed checkpoint', async () => {
  await world.stage(2);
  await world.clock.advance(4_000);
  const coordinator = world.coordinator();
  await coordinator.tick(world.signal);
  await world.clock.advance(10_000);
  await coordinator.tick(world.signal);
  expect(world.metrics.snapshot().gauges).toMatchObject({
    stagedBacklogSegments: 2,
    stagedBacklogEnvelopes: 4,
    stagedBacklogBytes: 200,
    checkpointAge: 14_000,
  });
  await world.drain();
  await world.clock.advance(10_000);
  await coordinator.tick(world.signal);
  expect(world.metrics.snapshot().gauges).toMatchObject({ stagedBacklogSegments: 0, checkpointAge: 0 });
});

test('an idle tick is billed three reads and a write', async () => {
  await world.stage(1);
  await minuteOf();
  const coordinator = world.coordinator();
  await coordinator.tick(world.signal);
  Object.assign(world.store.billed, { reads: 0, writes: 0, deletes: 0 });
  await world.clock.advance(10_000);
  await coordinator.tick(world.signal);
  expect(world.store.billed).toEqual({ reads: 3, writes: 1, deletes: 0 });
});

test('two thousand segments a second for five minutes, each call 100 ms: no tick fails, and none is late', async () => {
  let failed = 0;
  const waits: number[] = [];
  world.store.fault = ({ method }) => (method === 'stage' || method === 'finish' ? undefined : { delayMillis: 100 });
  for (let minute = 0; minute < 5; minute += 1) {
    const coordinator = world.coordinator();
    for (let slot = 0; slot < 6; slot += 1) {
      const before = world.clock.now();
      const running = { isDone: false };
      const tick = coordinator
        .tick(world.signal)
        .catch(() => (failed += 1))
        .finally(() => (running.isDone = true));
      while (!running.isDone) await world.clock.advance(100);
      await tick;
      waits.push(world.clock.now() - before);
      await world.drain();
      world.plant(20_000);
      await world.clock.advance(10_000 - (world.clock.now() - before));
    }
    const release = coordinator.release(world.signal);
    await world.clock.advance(1000);
    await release;
  }
  expect(failed).toBe(0);
  expect(Math.max(...waits)).toBeLessThanOrEqual(2000);
}, 60_000);
