import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TickWorld } from '../support/tick-world.ts';

/**
 * Coordinators that die, overlap, or have wrong clocks; work messages that are lost or come twice. Whatever happens,
 * every segment reaches a committer, and every checkpoint is committed, once nothing of it is left.
 */

const COMMITTERS_CALLS = new Set(['stage', 'finish']);

/** A call of a coordinator, and of nobody else. */
const isCoordinators = (method: string): boolean => !COMMITTERS_CALLS.has(method);

function expectNothingLost(world: TickWorld): void {
  const { segments, pipeline, checkpoints } = world.store;
  expect(segments).toEqual([]);
  for (const id of world.staged) expect(world.given.has(id), id).toBe(true);
  expect(pipeline?.committed).toBe(pipeline?.completed);
  expect(checkpoints.map(({ number }) => number)).toEqual(checkpoints.map((_, index) => index + 1));
  expect(checkpoints.at(-1)?.number ?? 0).toBe(pipeline?.completed);
}

/** A coordinator's life with everything in it: checkpoints, late segments, lost work, an end. */
async function live(world: TickWorld): Promise<void> {
  const coordinator = world.coordinator();
  await world.stage(2);
  await coordinator.tick(world.signal);
  await world.stage(310, { envelopes: 1, bytes: 10 });
  await world.clock.advance(10_000);
  await coordinator.tick(world.signal);
  // The first message of all is lost.
  await world.drain({ lose: (index) => index === 0 });
  await world.clock.advance(10_000);
  await coordinator.tick(world.signal);
  await world.clock.advance(20_000);
  await coordinator.tick(world.signal);
  await world.drain();
  await world.stage(1);
  await world.clock.advance(10_000);
  await coordinator.tick(world.signal);
  await coordinator.release(world.signal);
}

/** Lets the n-th call of a coordinator fail, which is the end of it: nothing that it would have done comes after. */
async function dieAt(world: TickWorld, at: number, fault: 'error-before' | 'error-after'): Promise<number> {
  let calls = 0;
  const next = (): typeof fault | undefined => ((calls += 1) === at ? fault : undefined);
  world.store.fault = ({ method }) => (isCoordinators(method) ? next() : undefined);
  world.topic.fault = next;
  await live(world).catch(() => undefined);
  world.store.fault = () => undefined;
  world.topic.fault = () => undefined;
  return calls;
}

describe('a coordinator that dies at any of its calls', () => {
  test.each(['error-before', 'error-after'] as const)(
    'with its effect %s, leaves nothing that the next one does not repair',
    async (fault) => {
      const whole = new TickWorld();
      const calls = await dieAt(whole, Infinity, fault);
      // A life that has every kind of call in it, or this test proves less than it says.
      expect(calls).toBeGreaterThan(100);
      expect(whole.store.checkpoints.length).toBeGreaterThan(2);
      for (let at = 1; at <= calls; at += 1) {
        const world = new TickWorld();
        await dieAt(world, at, fault);
        if (world.staged.length === 0) await world.stage(1);
        await world.settle();
        expectNothingLost(world);
      }
    },
  );
});

/** One step of a schedule that a seed makes. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('tick' as const), who: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('stage' as const), count: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('drain' as const),
      times: fc.integer({ min: 1, max: 2 }),
      lost: fc.nat(3),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), millis: fc.integer({ min: 1, max: 40_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), who: fc.nat(2) }) },
);

/** What goes wrong with a call, drawn for each from the seed as well. */
const faults = fc.infiniteStream(
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('error-before' as const, 'error-after' as const, 'conflict' as const) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 30_000 }).map((delayMillis) => ({ delayMillis })) },
  ),
);

test('coordinators that overlap, with clocks that differ, over a store that fails and stalls, lose and double nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -90_000, max: 90_000 }))),
      faults,
      async (steps, skews, drawn) => {
        const world = new TickWorld();
        await world.stage(1);
        const coordinators = skews.map((skew) => world.coordinator({}, skew));
        const running: Promise<unknown>[] = [];
        const give = drawn[Symbol.iterator]();
        world.store.fault = ({ method }) => {
          if (!isCoordinators(method)) return undefined;
          return give.next().value as ReturnType<TickWorld['store']['fault']>;
        };
        for (const each of steps) {
          switch (each.kind) {
            case 'tick':
              // Not awaited: the ticks of several coordinators run into each other, as delays have it.
              running.push(coordinators[each.who]!.tick(world.signal).catch(() => undefined));
              await world.clock.advance(0);
              break;
            case 'stage':
              await world.stage(each.count);
              break;
            case 'drain':
              await world.drain({ times: each.times, lose: (index) => index < each.lost });
              break;
            case 'wait':
              await world.clock.advance(each.millis);
              break;
            case 'replace':
              coordinators[each.who] = world.coordinator({}, skews[each.who]);
              break;
            default:
              each satisfies never;
          }
        }
        // Every tick ends, however long it stalled.
        await world.clock.advance(600_000);
        await Promise.all(running);
        world.store.fault = () => undefined;
        await world.settle();
        expectNothingLost(world);
      },
    ),
    { seed: 20261130, numRuns: 300 },
  );
}, 60_000);
