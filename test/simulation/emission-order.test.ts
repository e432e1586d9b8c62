import { expect, test } from 'vitest';
import { createEmission, type UnitEmission } from '../../shared/emission/emission.ts';
import { EmissionError } from '../../shared/emission/failure.ts';
import { OUT } from '../support/emission-harness.ts';
import { FakeTopic, status, type TopicEffect } from '../support/fake-topic.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { testRuntime } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';

/**
 * One unit whose readers follow each other, as leases are lost: each goes on from the position that the one before
 * committed. The topic refuses, loses answers, says nothing, and applies what it was sent up to two minutes later, when
 * its sender is long gone. A reader that has lost its lease does not know it, and goes on as long as it may.
 */
const SEEDS = 400;
const ROWS = 120;
const KEYS = 5;
const LEASE_MILLIS = 60_000;
const RENEWAL_MILLIS = 5_000;
const LATEST_MILLIS = 120_000;

const keyOf = (row: number): string => `key-${(row * 7) % KEYS}`;

class World {
  readonly clock = new ManualClock();
  readonly topic = new FakeTopic(this.clock);
  readonly random: () => number;
  committed = 0;
  readers = 0;
  readonly zombies: { readonly end: AbortController; readonly unit: UnitEmission<number> }[] = [];
  /** Attempts that began without the time to end before their lease. */
  readonly late: string[] = [];

  constructor(seed: number, faults: number) {
    this.random = seededRandom(seed);
    this.topic.decide = () =>
      this.random() < faults ? this.#fault() : { kind: 'confirm', delayMillis: this.#upTo(300) };
  }

  #upTo(millis: number): number {
    return 1 + Math.floor(this.random() * millis);
  }

  #fault(): TopicEffect {
    const code = this.random() < 0.5 ? 'UNAVAILABLE' : 'RESOURCE_EXHAUSTED';
    const kinds: readonly TopicEffect[] = [
      { kind: 'refuse', status: status(code), delayMillis: this.#upTo(500) },
      { kind: 'lose-answer', status: status('INTERNAL'), appliedAfterMillis: this.#upTo(LATEST_MILLIS) },
      { kind: 'silence' },
      { kind: 'silence', appliedAfterMillis: this.#upTo(LATEST_MILLIS) },
    ];
    return kinds[Math.floor(this.random() * kinds.length)] as TopicEffect;
  }

  /** One reader's time: until it has read everything, crashes, or is cut off from the store and outlives its lease. */
  async read(): Promise<void> {
    const { clock, topic } = this;
    this.readers += 1;
    const end = new AbortController();
    const fate = this.random();
    const hurtAt = clock.now() + this.#upTo(20_000);
    let leaseEnd = clock.now() + LEASE_MILLIS;
    const emission = createEmission({
      send: (attempt) => {
        if (clock.now() + attempt.timeoutMillis > leaseEnd - 2_000) this.late.push(`${clock.now()} ${leaseEnd}`);
        return topic.send(attempt);
      },
      runtime: testRuntime({ clock, random: this.random }),
      remainingMillis: () => leaseEnd - clock.now(),
      signal: end.signal,
      maxOutstandingBytes: 8_000,
    });
    const unit = emission.open<number>({
      topic: OUT,
      attributes: {},
      maxRecordsPerMessage: this.random() < 0.3 ? 3 : 1,
      oversizedMessage: 'fail',
      failurePolicy: 'fail',
      setApart: () => Promise.reject(new Error('nothing is refused here')),
    });
    const reading = this.#emitFrom(unit, this.committed + 1);
    for (;;) {
      await clock.advance(500);
      const isCutOff = fate < 0.4 && clock.now() >= hurtAt;
      if (!isCutOff && leaseEnd - clock.now() < LEASE_MILLIS - RENEWAL_MILLIS) {
        leaseEnd = clock.now() + LEASE_MILLIS;
        this.committed = unit.takeCommittable() ?? this.committed;
      }
      const isCrashed = fate >= 0.4 && fate < 0.7 && clock.now() >= hurtAt;
      const isDone = !isCutOff && unit.isConfirmed && (await isOver(reading));
      if (isDone) this.committed = unit.takeCommittable() ?? this.committed;
      if (isDone || isCrashed) {
        end.abort(new Error(isDone ? 'done' : 'killed'));
        break;
      }
      // The next reader comes when the lease has run out; this one is a zombie from then on, and lives on.
      if (clock.now() >= leaseEnd) break;
    }
    await clock.advance(0);
    this.zombies.push({ end, unit });
  }

  async #emitFrom(unit: UnitEmission<number>, from: number): Promise<void> {
    try {
      for (let row = from; row <= ROWS; row += 1) {
        await unit.emit({ data: Buffer.from(String(row)), attributes: {}, orderingKey: keyOf(row) });
        unit.pass(row);
      }
      unit.flush();
    } catch (error) {
      if (!(error instanceof EmissionError)) throw error;
    }
  }

  async run(): Promise<void> {
    while (this.committed < ROWS && this.readers < 60) await this.read();
    await this.clock.advance(LATEST_MILLIS + 10_000);
    for (const { end } of this.zombies) end.abort(new Error('the end of the world'));
    await this.clock.advance(60_000);
  }

  /** Rows in the order in which each was published first, by key. */
  firstPublications(): Map<string, number[]> {
    const first = new Map<string, number[]>();
    for (const { text, key } of this.topic.published) {
      const rows = first.get(key) ?? [];
      first.set(key, rows);
      for (const row of text.split('\n').filter(Boolean).map(Number)) if (!rows.includes(row)) rows.push(row);
    }
    return first;
  }
}

/** Whether the promise has resolved by now. */
const isOver = (promise: Promise<void>): Promise<boolean> =>
  Promise.race([
    promise.then(() => true),
    new Promise<boolean>((resolve) => {
      setImmediate(resolve, false);
    }),
  ]);

const allRows = Array.from({ length: ROWS }, (_, index) => index + 1);

test(`${SEEDS} schedules of lost leases and late requests repeat messages, and reorder no first publication of a key`, async () => {
  let repeats = 0;
  let takeovers = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = new World(seed, 0.25);
    await world.run();
    const first = world.firstPublications();
    for (const [key, rows] of first) {
      expect(rows, `seed ${seed}, ${key}`).toEqual(allRows.filter((row) => keyOf(row) === key));
    }
    expect([...first.values()].flat().length, `seed ${seed}`).toBe(ROWS);
    expect(world.late, `seed ${seed}`).toEqual([]);
    expect(world.clock.pending, `seed ${seed}`).toBe(0);
    expect(
      world.zombies.every(({ unit }) => unit.isIdle),
      `seed ${seed}`,
    ).toBe(true);
    repeats += world.topic.published.reduce((sum, { text }) => sum + text.split('\n').filter(Boolean).length, 0) - ROWS;
    takeovers += world.readers - 1;
  }
  // The schedules must hurt, or they prove nothing.
  expect(repeats).toBeGreaterThan(SEEDS * 10);
  expect(takeovers).toBeGreaterThan(SEEDS / 4);
}, 240_000);

test('without faults every message is published exactly once', async () => {
  const world = new World(7, 0);
  world.topic.decide = () => undefined;
  await world.run();
  expect(world.topic.published.length).toBe(ROWS);
});
