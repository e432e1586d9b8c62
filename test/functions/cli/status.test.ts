import { beforeEach, describe, expect, test } from 'vitest';
import { NO_AMOUNT } from '../../../shared/staged/state.ts';
import { TickWorld } from '../../support/tick-world.ts';
import { run } from './fakes.ts';

const staged = (change: Readonly<Record<string, unknown>> = {}): object => ({
  kind: 'staged-sink',
  ...{ topic: 'orders', table: 't', serializer: 'entry', markerFamily: 'm' },
  ...change,
});

const configOf = (pipelines: object): string =>
  JSON.stringify({ defaults: { project: 'p', instance: 'i' }, pipelines });

const config = configOf({ orders: staged() });

let world: TickWorld;
beforeEach(() => {
  world = new TickWorld();
});

const status = (...args: readonly string[]): ReturnType<typeof run> =>
  run(['status', ...args], { config, stage: () => world.store });

/** A pipeline that was ticked for a while, and whose last tick was so long before the command. */
async function live(secondsAgo: number): Promise<void> {
  const coordinator = world.coordinator();
  await world.stage(2, { envelopes: 500, bytes: 600_000 });
  await world.clock.advance(1_500);
  await coordinator.tick(world.signal);
  await world.clock.advance(2_000);
  await world.drain();
  await world.stage(3);
  await world.clock.advance(8_000);
  await coordinator.tick(world.signal);
  await world.setApart('table p.i.t has no family x: add it', { attempts: 2, tryInMillis: 124_000 });
  await world.clock.advance(secondsAgo * 1000);
}

test('tells who coordinates, what waits, the last checkpoints, the oldest segment and what is set apart', async () => {
  await live(4);
  const { code, out } = await runAt(world.clock.now());
  expect(code).toBe(0);
  expect(out).toBe(
    [
      'orders: coordinator coordinator-1 (epoch 1, lease for 21.0 s more)',
      '  completed 2 4.0 s ago, committed 1',
      '  not in their rows yet: 4 envelopes in 2 segments, 200 B',
      '  oldest of a completed checkpoint: 3-000000000002-78dde6e5fd29f054, stored 12.0 s ago',
      '  CHECKPOINT  STATE      SEGMENTS  ENVELOPES    STAGED→COMPLETED  COMPLETED→COMMITTED  VISIBLE AFTER',
      '  2           sent       about 3   about 6      8.0 s             4.0 s…               12.0 s…',
      '  1           committed  about 2   about 1,000  1.5 s             10.0 s               11.5 s',
      '  set apart, and tried again: 1 envelope in 1 segment, 4 B',
      '  SEGMENT                          ENVELOPES  ATTEMPTS  STAGED      NEXT ATTEMPT  PROBLEM',
      '  2-000000000002-daa66d2c7ddf743f  1          2         12.0 s ago  in 2 min 0 s  table p.i.t has no family x: add it',
    ].join('\n'),
  );
});

test('tells of an earlier format that is not drained yet', async () => {
  const id = '0b8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a11';
  await world.store.staging.stage([{ id, envelopes: 1, payload: Buffer.alloc(3), stagedAt: 0 }], world.signal);
  await world.stage(1);
  await world.coordinator().tick(world.signal);
  const { out } = await runAt(world.clock.now());
  expect(out).toContain('completed 1 0.0 s ago, committed not known yet');
});

/** Runs the command as of that time. */
const runAt = (now: number, ...args: readonly string[]): ReturnType<typeof run> =>
  run(['status', ...args], { config, now, stage: () => world.store });

describe('says that nobody ticks', () => {
  const hint = 'is the scheduler job of coordinate there, and not paused?';

  test('where no coordinator ever ran', async () => {
    await world.stage(1);
    const { code, out } = await status();
    expect(code).toBe(0);
    expect(out).toContain('orders: no coordinator has run yet');
    expect(out).toContain(hint);
    expect(out).toContain('no checkpoint yet');
  });

  test('where the lease ran out more than two minutes ago, and not before', async () => {
    await live(0);
    const runsOutAt = world.store.pipeline?.lease.expiresAt ?? 0;
    expect((await runAt(runsOutAt + 120_000)).out).not.toContain(hint);
    expect((await runAt(runsOutAt + 120_001)).out).toContain(hint);
  });

  test('and not in the pause between two invocations', async () => {
    const coordinator = world.coordinator();
    await coordinator.tick(world.signal);
    await coordinator.release(world.signal);
    const { out } = await runAt(world.clock.now() + 5_000);
    expect(out).toContain('no coordinator at the moment (epoch 1, given back 5.0 s ago)');
    expect(out).not.toContain(hint);
  });
});

test('as JSON, with what the report says in words', async () => {
  await live(4);
  const { out } = await runAt(world.clock.now(), '--json');
  expect(JSON.parse(out)).toMatchObject([
    {
      pipeline: 'orders',
      isUnattended: false,
      state: { completed: 2, committed: 1 },
      backlog: { segments: 2 },
      rests: { segments: 1, envelopes: 1 },
      checkpoints: [{ number: 2 }, { number: 1 }],
      oldest: { number: 2 },
      setApart: [{ problem: 'table p.i.t has no family x: add it' }],
    },
  ]);
});

test('watches until Ctrl-C', async () => {
  const stop = new AbortController();
  let reads = 0;
  const waits: number[] = [];
  const { code, out } = await run(['status', '--watch', '3'], {
    config,
    waits,
    signal: stop.signal,
    stage: () => {
      reads += 1;
      if (reads === 3) stop.abort(new Error('Ctrl-C'));
      return {
        status: {
          ...world.store.status,
          readPipeline: () => Promise.resolve(undefined),
          countBacklog: () => Promise.resolve({ backlog: NO_AMOUNT, rests: NO_AMOUNT }),
          readCheckpoints: () => Promise.resolve([]),
          readRests: () => Promise.resolve([]),
          readLowest: () => Promise.resolve([]),
        },
      };
    },
  });
  expect(code).toBe(130);
  expect(waits.slice(0, 2)).toEqual([3_000, 3_000]);
  expect(out.match(/^orders: /gm)).toHaveLength(3);
});

describe('only pipelines that stage have a status', () => {
  const bulk = { kind: 'bulk-sink', topic: 'orders', table: 't', serializer: 'entry' };

  test('one that does not is refused, with those that do', async () => {
    const { code, err } = await run(['status', '--pipeline', 'bulk'], { config: configOf({ bulk, orders: staged() }) });
    expect(code).toBe(1);
    expect(err).toContain('has no pipeline "bulk" that stages (there is: orders)');
  });

  test('none at all is refused', async () => {
    const { code, err } = await run(['status'], { config: configOf({ bulk }) });
    expect(code).toBe(1);
    expect(err).toContain('no pipeline of kind staged-sink with the commit on-checkpoint');
  });

  test('several are reported one after the other', async () => {
    const { out } = await run(['status'], {
      config: configOf({ one: staged(), bulk, two: staged() }),
      stage: () => world.store,
    });
    expect(out.match(/^(one|two): /gm)).toEqual(['one: ', 'two: ']);
  });
});
