import { beforeEach, describe, expect, test } from 'vitest';
import type { Decider } from '../../../shared/coordinator/decider.ts';
import type { FencedCommit, Led, LedStore } from '../../../shared/coordinator/ports.ts';
import { createTicks, type Ticks } from '../../../shared/coordinator/tick.ts';
import type { CommitResult, Versioned } from '../../../shared/model/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** The smallest kind of pipeline: each decision takes one number, up to a last one. */
interface Taken {
  readonly taken: number;
}
type Stored = Versioned<Led<Taken>> | undefined;

const LAST = 30;
const { signal } = new AbortController();

let clock: ManualClock;
let stored: Stored;
/** The numbers of every commit that happened, and of every message. */
let committed: number[];
let published: number[];
/** What happens to the next commits instead of what should. */
let results: CommitResult[];
let limit: number;

const store: LedStore<Taken, readonly number[]> = {
  readPipeline: () => Promise.resolve(stored),
  commit({ pipeline: { version, value }, changes = [] }: FencedCommit<Taken, readonly number[]>) {
    const isCurrent = stored?.version === version && results.shift() !== 'conflict';
    if (!isCurrent) return Promise.resolve('conflict');
    stored = { value, version: String(Number(version ?? 0) + 1) };
    committed.push(...changes);
    return Promise.resolve('committed');
  },
};

function ticksOf(owner: string, change: Partial<Decider<Taken, number, readonly number[], number>> = {}): Ticks {
  const decider: Decider<Taken, number, readonly number[], number> = {
    name: 'numbers',
    intervalMillis: 60_000,
    counted: ['taken', 'lost'],
    read: ({ pipeline }) => Promise.resolve((pipeline?.taken ?? 0) + 1),
    decide: (_turn, next) => ({
      pipeline: { taken: next },
      changes: [next],
      messages: [next],
      counts: { taken: 1 },
      hasMore: next < limit,
    }),
    committed: () => undefined,
    publish(messages) {
      published.push(...messages);
      return Promise.resolve();
    },
    ...change,
  };
  return createTicks(decider, { store, clock, owner });
}

beforeEach(() => {
  clock = new ManualClock();
  stored = undefined;
  committed = [];
  published = [];
  results = [];
  limit = 0;
});

test.each([
  [1_000, 1_000],
  [10_000, 10_000],
  [60_000, 10_000],
])('an interval of %i ms is kept in slots of %i ms', (intervalMillis, slot) => {
  expect(ticksOf('us', { intervalMillis }).slotMillis).toBe(slot);
});

describe('a tick', () => {
  test('makes the document with the first lease, commits the decision with it, and then publishes', async () => {
    expect(await ticksOf('us').tick(signal)).toEqual({ kind: 'ticked', counts: { taken: 1, lost: 0 } });
    expect(stored?.value).toEqual({ taken: 1, lease: { owner: 'us', epoch: 1, expiresAt: clock.now() + 25_000 } });
    expect([committed, published]).toEqual([[1], [1]]);
  });

  test('decides again while there is more, up to ten commits', async () => {
    limit = LAST;
    expect(await ticksOf('us').tick(signal)).toMatchObject({ counts: { taken: 10 } });
    limit = 12;
    expect(await ticksOf('us').tick(signal)).toMatchObject({ counts: { taken: 2 } });
    expect(published).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  test('tells the decider what it has done so far', async () => {
    limit = 3;
    const done: (number | undefined)[] = [];
    await ticksOf('us', {
      read(turn) {
        done.push(turn.done.taken);
        return Promise.resolve((turn.pipeline?.taken ?? 0) + 1);
      },
    }).tick(signal);
    expect(done).toEqual([0, 1, 2]);
  });

  test('forgets a decision whose commit conflicts, and asks for another one', async () => {
    results = ['conflict'];
    const told: number[] = [];
    await ticksOf('us', { committed: (_turn, next) => told.push(next) }).tick(signal);
    expect([told, committed, published]).toEqual([[1], [1], [1]]);
  });

  test('that conflicts twice says so and leaves it to the next one', async () => {
    results = ['conflict', 'conflict'];
    expect(await ticksOf('us').tick(signal)).toEqual({ kind: 'conflict', counts: { taken: 0, lost: 0 } });
    expect([stored, published]).toEqual([undefined, []]);
  });

  test('of another owner finds the lease held: nothing is read, decided or changed', async () => {
    await ticksOf('them').tick(signal);
    const before = stored;
    const never = (): never => {
      throw new Error('asked of a decider that has no turn');
    };
    expect(await ticksOf('us', { read: never, decide: never }).tick(signal)).toMatchObject({
      kind: 'held',
      by: 'them',
    });
    expect(stored).toBe(before);
  });

  test('whose messages are not confirmed rejects, and what it committed stays', async () => {
    const ticks = ticksOf('us', { publish: () => Promise.reject(new Error('unconfirmed')) });
    await expect(ticks.tick(signal)).rejects.toThrow('unconfirmed');
    expect(stored?.value.taken).toBe(1);
  });
});

describe('a release', () => {
  test('gives the lease back, and changes nothing else', async () => {
    const ticks = ticksOf('us');
    await ticks.tick(signal);
    await ticks.release(signal);
    expect(stored?.value).toEqual({ taken: 1, lease: { owner: '', epoch: 1, expiresAt: clock.now() } });
    expect(committed).toEqual([1]);
  });

  test('leaves alone the lease of another', async () => {
    await ticksOf('them').tick(signal);
    const before = stored;
    await ticksOf('us').release(signal);
    expect(stored).toBe(before);
  });
});

describe('a decider that may have nothing to do', () => {
  test('costs no read and no write of the pipeline while it has not, and there is no lease to give back', async () => {
    const ticks = ticksOf('me', { hasWork: () => Promise.resolve(false) });
    expect(await ticks.tick(signal)).toEqual({ kind: 'ticked', counts: { taken: 0, lost: 0 } });
    stored = { version: '7', value: { taken: 5, lease: { owner: 'me', epoch: 1, expiresAt: clock.now() } } };
    await ticks.release(signal);
    expect(stored.version).toBe('7');
  });

  test('has the usual ticks while it has', async () => {
    limit = 3;
    await ticksOf('me', { hasWork: () => Promise.resolve(true) }).tick(signal);
    expect(committed).toEqual([1, 2, 3]);
  });
});

test('a decider that does not keep its lease gives it back with the end of each tick, and others take turns with it', async () => {
  const turns = { keepsLease: () => false };
  const [left, right] = [ticksOf('left', turns), ticksOf('right', turns)];
  for (const ticks of [left, right, left]) expect((await ticks.tick(signal)).kind).toBe('ticked');
  expect(committed).toEqual([1, 2, 3]);
  expect(stored?.value.lease).toMatchObject({ owner: '', epoch: 3 });
  expect(left.takesTurns).toBe(true);
});

test('a decider may have more commits in a tick than others', async () => {
  limit = 30;
  await ticksOf('me', { maxRounds: 25 }).tick(signal);
  expect(committed).toHaveLength(25);
});
