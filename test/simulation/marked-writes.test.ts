import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MarkedWrites } from '../../shared/staged/write/marked-writes.ts';
import { HORIZON_MARGIN_MILLIS, markerTimestampMicros } from '../../shared/markers/marker.ts';
import type { StatusName } from '../../shared/model/status.ts';
import type { Outcome } from '../../shared/markers/outcome.ts';
import { addition, cell, envelopeOf, rowEntry } from '../support/envelopes.ts';
import { FakeMarkedTable, type Mishap } from '../support/fake-marked-table.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { submitOne, WRITES_OPTIONS } from '../support/marked-writes-harness.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { testRuntime } from '../support/runtime.ts';

interface Schedule {
  readonly seed: number;
  readonly rows: number;
  readonly effects: number;
  /** How often each effect is submitted, at most. */
  readonly copies: number;
  readonly failureShare: number;
  readonly badShare: number;
  readonly abortShare: number;
  readonly maxInFlightRequests: number;
}

interface Copy {
  readonly number: number;
  readonly row: string;
  readonly result: Outcome;
}

const codes = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'ABORTED', 'RESOURCE_EXHAUSTED', 'INTERNAL', 'UNKNOWN'] as const;

/**
 * Submits every effect several times to two instances, from invocations some of which end early, over a table with
 * transient failures; then once more over one without, as redelivery would, until nothing is unfinished.
 */
async function run(schedule: Schedule): Promise<{ table: FakeMarkedTable; copies: Copy[]; bad: ReadonlySet<number> }> {
  const random = seededRandom(schedule.seed);
  const clock = new ManualClock();
  let share = schedule.failureShare;
  const mishap = (): Mishap | undefined => {
    if (random() >= share) return undefined;
    const code = codes[Math.floor(random() * codes.length)] ?? 'UNAVAILABLE';
    return { when: random() < 0.5 ? 'before' : 'after', code };
  };
  const lookMishap = (): StatusName | undefined =>
    random() < share ? (random() < 0.2 ? 'PERMISSION_DENIED' : codes[Math.floor(random() * codes.length)]) : undefined;
  const delayMillis = (): number => Math.floor(random() * 30);
  const table = new FakeMarkedTable({ clock, mishap, lookMishap, delayMillis });
  const instances = [0, 1].map(
    () =>
      new MarkedWrites(
        { ...WRITES_OPTIONS, maxInFlightRequests: schedule.maxInFlightRequests },
        { send: table.send, readMarkers: table.readMarkers, runtime: testRuntime({ clock, random }) },
      ),
  );
  const numbers = Array.from({ length: schedule.effects }, (_, number) => number);
  const bad = new Set(numbers.filter(() => random() < schedule.badShare));
  const copies: Copy[] = [];
  const pending: Promise<void>[] = [];
  const submit = (number: number, signal: AbortSignal): void => {
    const row = `row-${number % schedule.rows}`;
    const mutations = [addition(1n), cell(bad.has(number) ? 'bad' : String(number))];
    const instance = instances[Math.floor(random() * instances.length)];
    const submitted = instance && submitOne(instance, envelopeOf(number, rowEntry(row, ...mutations)), signal);
    const kept = Promise.resolve(submitted).then((result) => {
      if (result) copies.push({ number, row, result });
    });
    pending.push(kept);
  };
  for (const number of numbers) {
    const times = 1 + Math.floor(random() * schedule.copies);
    for (let copy = 0; copy < times; copy += 1) {
      const controller = new AbortController();
      clock.after(Math.floor(random() * 300), () => {
        submit(number, controller.signal);
      });
      if (random() < schedule.abortShare) {
        clock.after(Math.floor(random() * 400), () => {
          controller.abort(new Error('the time is used up'));
        });
      }
    }
  }
  await clock.advance(60_000);
  share = 0;
  for (const number of numbers) submit(number, new AbortController().signal);
  await clock.advance(60_000);
  await Promise.all(pending);
  expect(clock.pending).toBe(0);
  return { table, copies, bad };
}

const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  rows: fc.constantFrom(1, 2, 7),
  effects: fc.integer({ min: 1, max: 25 }),
  copies: fc.integer({ min: 1, max: 3 }),
  failureShare: fc.constantFrom(0, 0.2, 0.6),
  badShare: fc.constantFrom(0, 0.2),
  abortShare: fc.constantFrom(0, 0.4),
  maxInFlightRequests: fc.constantFrom(1, 3, 100),
});

test('under any transient failures, with any copies, the sum is the number of distinct effects, and every copy is told the truth', async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const { table, copies, bad } = await run(schedule);
      expect(table.sum).toBe(BigInt(schedule.effects - bad.size));
      const markers = [...table.rows.values()].reduce((sum, row) => sum + row.markers.size, 0);
      expect(markers).toBe(schedule.effects - bad.size);
      for (const { number, result } of copies) {
        if (result.kind === 'rejected') expect(bad.has(number)).toBe(true);
        if (result.kind === 'applied' || result.kind === 'deduplicated') expect(bad.has(number)).toBe(false);
      }
      // Of the copies of one effect at most one is told that it was the one.
      const firsts = copies.filter(({ result }) => result.kind === 'applied').map(({ number }) => number);
      expect(new Set(firsts).size).toBe(firsts.length);
    }),
    // A failing run prints its seed.
    { numRuns: 300 },
  );
}, 120_000);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HORIZON = 8 * DAY;

interface Delivery {
  /** When a copy is submitted, after publish. */
  readonly atMillis: number;
  /** How far the clock of its instance is ahead. */
  readonly skewMillis: number;
  readonly losesAnswer: boolean;
}

/**
 * Delivers copies of one effect at any times, over a table that collects markers as soon as it may. Returns how often
 * the effect counted. Without the check, the engine believes that markers are never collected.
 */
async function deliver(deliveries: readonly Delivery[], isChecked: boolean): Promise<bigint> {
  const clock = new ManualClock();
  const publishedAt = clock.now();
  const loses = new Map(deliveries.map((delivery, index) => [index, delivery.losesAnswer]));
  let request = 0;
  const table = new FakeMarkedTable({
    clock,
    markerMaxAgeMillis: HORIZON,
    mishap: () => (loses.get(request++) ? { when: 'after', code: 'UNAVAILABLE' } : undefined),
  });
  const publishTimeMicros = BigInt(publishedAt) * 1000n + 123n;
  const envelope = envelopeOf(1, rowEntry('k', addition(1n)), {
    markerTimestampMicros: markerTimestampMicros(publishTimeMicros, HORIZON),
    source: { messageId: '1', recordIndex: 0, publishTimeMicros },
  });
  const results: Promise<Outcome>[] = [];
  for (const { atMillis, skewMillis } of deliveries) {
    clock.after(atMillis, () => {
      const skewed = {
        now: () => clock.now() + skewMillis,
        monotonic: clock.monotonic.bind(clock),
        after: clock.after.bind(clock),
        soon: clock.soon.bind(clock),
      };
      const writes = new MarkedWrites(
        { ...WRITES_OPTIONS, maxInFlightRequests: 1, markerHorizonMillis: isChecked ? HORIZON : Infinity },
        {
          send: table.send,
          readMarkers: table.readMarkers,
          runtime: testRuntime({ clock: skewed, random: () => 0.5 }),
        },
      );
      results.push(submitOne(writes, envelope, new AbortController().signal));
    });
  }
  await clock.advance(40 * DAY);
  await Promise.all(results);
  return table.sum;
}

describe('with a marker family that collects what is older than the horizon', () => {
  // Around everything that matters: soon after publish, at the horizon less its margin, at the horizon, long after it.
  const anyTime = fc.oneof(
    fc.nat(DAY),
    fc.integer({ min: HORIZON - 3 * HOUR, max: HORIZON + 3 * HOUR }),
    fc.nat(30 * DAY),
  );
  const deliveries = fc.array(
    fc.record({
      atMillis: anyTime,
      skewMillis: fc.integer({ min: -HORIZON_MARGIN_MILLIS / 2, max: HORIZON_MARGIN_MILLIS / 2 }),
      losesAnswer: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  );

  test('no schedule of deliveries, lost answers and skewed clocks counts an effect twice', async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, async (schedule) => {
        const counted = await deliver(schedule, true);
        expect(counted).toBeLessThanOrEqual(1n);
        // A delivery well within the horizon is applied, not quarantined.
        const isInTime = schedule.some(({ atMillis }) => atMillis < HORIZON - 2 * HORIZON_MARGIN_MILLIS);
        if (isInTime) expect(counted).toBe(1n);
      }),
      { numRuns: 300 },
    );
  }, 60_000);

  test('without the check a delivery after the horizon counts again, which is what the check is for', async () => {
    const twice = [0, HORIZON + HOUR].map((atMillis) => ({ atMillis, skewMillis: 0, losesAnswer: false }));
    expect(await deliver(twice, false)).toBe(2n);
    expect(await deliver(twice, true)).toBe(1n);
  });
});
