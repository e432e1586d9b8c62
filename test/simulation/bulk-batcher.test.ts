import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLogger } from '../../shared/base/logging.ts';
import { createMetrics } from '../../shared/base/metrics.ts';
import { Batcher } from '../../shared/bulk/batcher.ts';
import type { Outcome } from '../../shared/bulk/outcome.ts';
import { tableName } from '../../shared/model/table-name.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { numberedEntry, SimulatedBigtable } from '../support/simulated-bigtable.ts';

const TABLE = tableName('p', 'i', 't');
const RECORDS = 60;

const outcomeOf = (batcher: Batcher, row: string, id: number, signal: AbortSignal): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    batcher.submit(TABLE, numberedEntry(row, id), signal, resolve)?.catch(reject);
  });

interface Record {
  readonly id: number;
  readonly row: string;
  outcome: Outcome | undefined;
}

interface Schedule {
  readonly seed: number;
  readonly failureShare: number;
  readonly badShare: number;
  readonly abortShare: number;
  readonly maxInFlightEntries: number;
  readonly maxConcurrentBatches: number;
  readonly lingerMillis: number;
}

/** Runs one schedule to its end and returns everything that can be said about it. */
async function run(schedule: Schedule): Promise<{
  records: Record[];
  table: SimulatedBigtable;
  isBad: (id: number) => boolean;
  clock: ManualClock;
  gauges: Readonly<globalThis.Record<string, number>>;
}> {
  const random = seededRandom(schedule.seed);
  const clock = new ManualClock(0);
  const bad = new Set(Array.from({ length: RECORDS }, (_, id) => id).filter(() => random() < schedule.badShare));
  const isBad = (id: number): boolean => bad.has(id);
  const table = new SimulatedBigtable(clock, random, isBad, schedule.failureShare);
  const metrics = createMetrics();
  const batcher = new Batcher(
    {
      batchElementCountThreshold: 8,
      batchRequestByteThreshold: 1_000_000,
      maxInFlightEntries: schedule.maxInFlightEntries,
      maxInFlightBytes: 1_000_000,
      maxConcurrentBatches: schedule.maxConcurrentBatches,
      lingerMillis: schedule.lingerMillis,
      requestTimeoutMillis: 1000,
      retryInitialBackoffMillis: 20,
      retryMaxBackoffMillis: 200,
    },
    { mutateRows: table, runtime: { clock, random, metrics, logger: createLogger({}, () => undefined) } },
  );
  const records: Record[] = [];
  const all: Promise<void>[] = [];
  for (let id = 0; id < RECORDS; id += 1) {
    const record: Record = { id, row: `row-${Math.floor(random() * 5)}`, outcome: undefined };
    records.push(record);
    const controller = new AbortController();
    if (random() < schedule.abortShare) {
      clock.after(Math.floor(random() * 300), () => {
        controller.abort(new Error('deadline'));
      });
    }
    clock.after(Math.floor((id * 400) / RECORDS), () => {
      all.push(
        outcomeOf(batcher, record.row, id, controller.signal).then((outcome) => {
          expect(record.outcome).toBeUndefined();
          record.outcome = outcome;
        }),
      );
    });
  }
  await clock.advance(2000);
  table.failureShare = 0;
  await clock.advance(120_000);
  await Promise.all(all);
  return { records, table, isBad, clock, gauges: metrics.snapshot().gauges };
}

const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  failureShare: fc.constantFrom(0, 0.3, 0.8),
  badShare: fc.constantFrom(0, 0.1, 0.5, 1),
  abortShare: fc.constantFrom(0, 0.3),
  maxInFlightEntries: fc.constantFrom(1, 7, 1000),
  maxConcurrentBatches: fc.constantFrom(1, 3),
  lingerMillis: fc.constantFrom(0, 25),
});

test('under any transient failures every record gets one true outcome, rows stay in order, and the instance ends empty', async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const { records, table, isBad, clock, gauges } = await run(schedule);
      expect(table.violations).toEqual([]);
      expect(table.mostEntriesOnTheWire).toBeLessThanOrEqual(schedule.maxInFlightEntries);
      for (const { id, row, outcome } of records) {
        // Applied means applied; rejected means bad and never applied; only the aborted may be undecided.
        if (outcome?.kind === 'applied') expect(table.hasApplied(row, id)).toBe(true);
        if (outcome?.kind === 'rejected') expect(isBad(id)).toBe(true);
        if (isBad(id)) expect(table.hasApplied(row, id)).toBe(false);
        expect(outcome).toBeDefined();
        if (schedule.abortShare === 0) expect(outcome?.kind).toBe(isBad(id) ? 'rejected' : 'applied');
      }
      for (const taken of table.rows.values()) expect(taken).toEqual(taken.toSorted((x, y) => x - y));
      expect(gauges).toMatchObject({ inFlightEntries: 0, inFlightBytes: 0, parkedEntries: 0 });
      // Timers of aborts that came too late are the test's own; the batcher leaves none.
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 150 },
  );
}, 60_000);

test('k bad entries among n cost about k log n requests, not n', async () => {
  const clock = new ManualClock(0);
  const isBad = (id: number): boolean => id === 100 || id === 377;
  const table = new SimulatedBigtable(clock, () => 0.5, isBad, 0);
  const metrics = createMetrics();
  const batcher = new Batcher(
    {
      batchElementCountThreshold: 512,
      batchRequestByteThreshold: 1e9,
      maxInFlightEntries: 1000,
      maxInFlightBytes: 1e9,
      maxConcurrentBatches: 1,
      lingerMillis: 0,
      requestTimeoutMillis: 1000,
      retryInitialBackoffMillis: 20,
      retryMaxBackoffMillis: 200,
    },
    { mutateRows: table, runtime: { clock, random: () => 0.5, metrics, logger: createLogger({}, () => undefined) } },
  );
  const outcomes = Array.from({ length: 512 }, (_, id) =>
    outcomeOf(batcher, `row-${id}`, id, new AbortController().signal),
  );
  await clock.advance(60_000);
  const kinds = (await Promise.all(outcomes)).map(({ kind }) => kind);
  expect(kinds.map((kind, id) => (kind === 'rejected' ? id : -1)).filter((id) => id >= 0)).toEqual([100, 377]);
  expect(kinds.filter((kind) => kind === 'applied')).toHaveLength(510);
  // Two paths of nine halvings each, two requests a halving, and the first.
  expect(table.requests).toBeLessThanOrEqual(1 + 2 * 2 * 9);
});
