import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Clock } from '../../shared/base/clock.ts';
import type { Random } from '../../shared/base/random.ts';
import { createLogger } from '../../shared/base/logging.ts';
import { createMetrics } from '../../shared/base/metrics.ts';
import type { EntryAnswer } from '../../shared/bulk/answer.ts';
import { Batcher } from '../../shared/bulk/batcher.ts';
import { createTableAdmin } from '../../shared/bulk/repair/ensure-table.ts';
import type { Outcome } from '../../shared/bulk/outcome.ts';
import type { MutateRows, MutateRowsCall, MutateRowsReply, TableAdmin } from '../../shared/bulk/ports.ts';
import { TableKeeper } from '../../shared/bulk/repair/table-keeper.ts';
import { familiesOf, type RowEntry } from '../../shared/model/mutation.ts';
import { tableName } from '../../shared/model/table-name.ts';
import { FakeTableCalls } from '../support/fake-table-calls.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { numberedEntry, SimulatedBigtable } from '../support/simulated-bigtable.ts';

const TABLE = tableName('p', 'i', 't');
const RECORDS = 40;

/** Rows in front of a schema: a request that misses the table or names a missing family is refused whole. */
class SchemaGate implements MutateRows {
  readonly rows: SimulatedBigtable;
  readonly #visible: () => ReadonlySet<string> | undefined;

  constructor(rows: SimulatedBigtable, visible: () => ReadonlySet<string> | undefined) {
    this.rows = rows;
    this.#visible = visible;
  }

  sizeOf(entry: RowEntry): number {
    return this.rows.sizeOf(entry);
  }

  send(call: MutateRowsCall): Promise<MutateRowsReply> {
    const families = this.#visible();
    const isComplete = call.entries.every(({ entry }) => familiesOf(entry).every((name) => families?.has(name)));
    if (families && isComplete) return this.rows.send(call);
    const message = families ? 'Requested column family not found' : 'Table not found';
    const answer: EntryAnswer = { kind: 'refused', status: { code: 'NOT_FOUND', message } };
    return Promise.resolve({ answers: call.entries.map(() => answer), isHeard: true });
  }
}

/** The admin API, slow and now and then failing; what it makes is seen by writes some time later. */
function slowAdmin(calls: FakeTableCalls, clock: Clock, random: Random, failures: { share: number }): TableAdmin {
  const later = (): Promise<void> =>
    new Promise((resolve, reject) => {
      clock.after(1 + Math.floor(random() * 200), () => {
        if (random() < failures.share) reject(new Error('in passing'));
        else resolve();
      });
    });
  return createTableAdmin({
    create: async (table, options) => (await later(), calls.create(table, options)),
    read: async () => (await later(), calls.read()),
    addFamilies: async (table, families) => (await later(), calls.addFamilies(table, families)),
  });
}

interface Schedule {
  readonly seed: number;
  readonly start: 'no table' | 'no family' | 'complete';
  readonly failureShare: number;
  readonly undeclaredShare: number;
  readonly badShare: number;
  readonly abortShare: number;
  readonly propagationMillis: number;
  readonly isDeletedMidway: boolean;
  readonly maxConcurrentBatches: number;
}

const STARTS = { 'no table': undefined, 'no family': { f: 'raw' }, complete: { f: 'raw', g: 'raw' } } as const;

async function run(schedule: Schedule) {
  const random = seededRandom(schedule.seed);
  const clock = new ManualClock(0);
  const calls = new FakeTableCalls(STARTS[schedule.start]);
  const pick = (share: number): ReadonlySet<number> =>
    new Set(Array.from({ length: RECORDS }, (_, id) => id).filter(() => random() < share));
  const bad = pick(schedule.badShare);
  const undeclared = pick(schedule.undeclaredShare);
  const rows = new SimulatedBigtable(clock, random, (id) => bad.has(id), 0.2);
  let visible = calls.families && new Set(calls.families.keys());
  calls.before = () => {
    clock.after(schedule.propagationMillis, () => {
      visible = calls.families && new Set(calls.families.keys());
    });
  };
  const failures = { share: schedule.failureShare };
  const metrics = createMetrics();
  const runtime = { clock, random, metrics, logger: createLogger({}, () => undefined) };
  const tables = new TableKeeper(
    {
      tableCreateOptions: { families: { f: { type: 'raw' }, g: { type: 'raw' } } },
      recoveryInitialBackoffMillis: 100,
      recoveryMaxBackoffMillis: 1000,
      recoveryMaxAttempts: 30,
    },
    { runtime, admin: slowAdmin(calls, clock, random, failures) },
  );
  const batcher = new Batcher(
    {
      batchElementCountThreshold: 8,
      batchRequestByteThreshold: 1_000_000,
      maxInFlightEntries: 1000,
      maxInFlightBytes: 1_000_000,
      maxConcurrentBatches: schedule.maxConcurrentBatches,
      lingerMillis: 0,
      requestTimeoutMillis: 1000,
      retryInitialBackoffMillis: 20,
      retryMaxBackoffMillis: 200,
    },
    { runtime, mutateRows: new SchemaGate(rows, () => visible), tables },
  );
  const records: { id: number; row: string; outcome: Outcome | undefined }[] = [];
  const all: Promise<void>[] = [];
  for (let id = 0; id < RECORDS; id += 1) {
    const record = { id, row: `row-${Math.floor(random() * 5)}`, outcome: undefined as Outcome | undefined };
    records.push(record);
    const controller = new AbortController();
    if (random() < schedule.abortShare) {
      clock.after(Math.floor(random() * 3000), () => {
        controller.abort(new Error('deadline'));
      });
    }
    const family = undeclared.has(id) ? 'x' : random() < 0.5 ? 'f' : 'g';
    const { rowKey, mutations } = numberedEntry(record.row, id);
    const entry = { rowKey, mutations: mutations.map((mutation) => ({ ...mutation, family })) };
    clock.after(id * 50, () => {
      const submitted = new Promise<Outcome>((resolve, reject) => {
        batcher.submit(TABLE, entry, controller.signal, resolve)?.catch(reject);
      });
      all.push(
        submitted.then((outcome) => {
          expect(record.outcome).toBeUndefined();
          record.outcome = outcome;
        }),
      );
    });
  }
  if (schedule.isDeletedMidway) {
    clock.after(900, () => {
      calls.families = undefined;
      visible = undefined;
    });
  }
  await clock.advance(4000);
  failures.share = 0;
  rows.failureShare = 0;
  await clock.advance(300_000);
  await Promise.all(all);
  return { records, rows, bad, undeclared, clock, gauges: metrics.snapshot().gauges };
}

const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  start: fc.constantFrom('no table', 'no family', 'complete'),
  failureShare: fc.constantFrom(0, 0.3, 0.9),
  undeclaredShare: fc.constantFrom(0, 0.2),
  badShare: fc.constantFrom(0, 0.2),
  abortShare: fc.constantFrom(0, 0.3),
  propagationMillis: fc.constantFrom(1, 1500),
  isDeletedMidway: fc.boolean(),
  maxConcurrentBatches: fc.constantFrom(1, 3),
});

test('whatever is missing, slow or failing: every record gets one true outcome, rows stay in order, nothing is left', async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const { records, rows, bad, undeclared, clock, gauges } = await run(schedule);
      expect(rows.violations).toEqual([]);
      for (const { id, row, outcome } of records) {
        if (outcome?.kind === 'applied') expect(rows.hasApplied(row, id)).toBe(true);
        if (outcome?.kind === 'rejected') expect(bad.has(id)).toBe(true);
        if (bad.has(id) || undeclared.has(id)) expect(rows.hasApplied(row, id)).toBe(false);
        if (schedule.abortShare > 0) continue;
        // What no family is declared for is never rejected, whatever else is wrong with it: it never comes that far.
        if (undeclared.has(id)) expect(outcome).toMatchObject({ kind: 'redeliver', reason: 'missing-family' });
        else expect(outcome?.kind).toBe(bad.has(id) ? 'rejected' : 'applied');
      }
      for (const taken of rows.rows.values()) expect(taken).toEqual(taken.toSorted((x, y) => x - y));
      expect(gauges).toMatchObject({ inFlightEntries: 0, inFlightBytes: 0, parkedEntries: 0 });
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 150 },
  );
}, 60_000);
