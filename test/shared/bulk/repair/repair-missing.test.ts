import type { TableAdmin } from '../../../../shared/bulk/ports.ts';
import { FamilyTypes } from '../../../../shared/bulk/repair/family-types.ts';
import { describe, expect, test } from 'vitest';
import type { EntryAnswer } from '../../../../shared/bulk/answer.ts';
import { Batcher } from '../../../../shared/bulk/batcher.ts';
import { createTableAdmin } from '../../../../shared/bulk/repair/ensure-table.ts';
import type { Outcome } from '../../../../shared/bulk/outcome.ts';
import { TableKeeper } from '../../../../shared/bulk/repair/table-keeper.ts';
import type { FamilyType } from '../../../../shared/config/resolved.ts';
import type { RowEntry } from '../../../../shared/model/mutation.ts';
import { tableName, type TableName } from '../../../../shared/model/table-name.ts';
import { FakeTableCalls } from '../../../support/fake-table-calls.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { type HeldRequest, ScriptedMutateRows } from '../../../support/scripted-mutate-rows.ts';

const TABLE = tableName('p', 'i', 't');
const OTHER = tableName('p', 'i', 'other');

const NO_TABLE: EntryAnswer = { kind: 'refused', status: { code: 'NOT_FOUND', message: 'Table not found' } };
const NO_FAMILY: EntryAnswer = {
  kind: 'refused',
  status: { code: 'NOT_FOUND', message: 'row in table: Requested column family not found.' },
};

const all = (request: HeldRequest, answer: EntryAnswer): void => {
  request.reply({ answers: request.rows.map(() => answer) });
};

const entryOf = (row: string, family: string): RowEntry => ({
  rowKey: Buffer.from(row),
  mutations: [
    { kind: 'setCell', family, qualifier: Buffer.from('q'), timestampMicros: 1000n, value: Buffer.from('v') },
  ],
});

/** Fires as Node does at its worst: a timer of n ms may be run when the wall clock has moved by less. */
class EarlyClock extends ManualClock {
  override after(delayMillis: number, callback: () => void): () => void {
    return super.after(delayMillis > 1 ? delayMillis - 0.5 : delayMillis, callback);
  }
}

interface Setting {
  readonly clock?: ManualClock;
  readonly calls?: Readonly<Record<string, FakeTableCalls>>;
  readonly declared?: Readonly<Record<string, FamilyType>>;
  readonly maxAttempts?: number;
  readonly maxConcurrentBatches?: number;
}

function setUp({
  clock = new ManualClock(0),
  calls = {},
  declared = { f: 'raw' },
  maxAttempts = 10,
  maxConcurrentBatches = 1,
}: Setting = {}) {
  const bigtable = new ScriptedMutateRows();
  const runtime = testRuntime({ clock });
  const { metrics, lines } = runtime;
  const none = new FakeTableCalls();
  const adminOf = ({ table }: TableName) => createTableAdmin(calls[table] ?? none);
  const tableCreateOptions = {
    families: Object.fromEntries(Object.entries(declared).map(([name, type]) => [name, { type }])),
  };
  const recovery = { recoveryInitialBackoffMillis: 500, recoveryMaxBackoffMillis: 10_000 };
  const admin: TableAdmin = {
    ensure: (table, ...rest) => adminOf(table).ensure(table, ...rest),
    checkTypes: (table, ...rest) => adminOf(table).checkTypes(table, ...rest),
  };
  const tables = new TableKeeper(
    { tableCreateOptions, ...recovery, recoveryMaxAttempts: maxAttempts },
    { runtime, admin },
  );
  const types = new FamilyTypes(tableCreateOptions, recovery, { runtime, admin });
  const batcher = new Batcher(
    {
      batchElementCountThreshold: 100,
      batchRequestByteThreshold: 1_000_000,
      maxInFlightEntries: 1000,
      maxInFlightBytes: 1_000_000,
      maxConcurrentBatches,
      lingerMillis: 0,
      requestTimeoutMillis: 5000,
      retryInitialBackoffMillis: 100,
      retryMaxBackoffMillis: 400,
    },
    { runtime, mutateRows: bigtable, tables, types },
  );
  const outcomes: Record<string, Outcome> = {};
  const submit = async (
    row: string,
    { family = 'f', table = TABLE, signal = new AbortController().signal } = {},
  ): Promise<void> => {
    outcomes[row] = await new Promise((resolve, reject) => {
      batcher.submit(table, entryOf(row, family), signal, resolve)?.catch(reject);
    });
  };
  const last = (): HeldRequest => bigtable.requests.at(-1)!;
  return { clock, bigtable, metrics, lines, tables, outcomes, submit, last };
}

describe('a missing table', () => {
  test('is ensured once, what missed it is parked meanwhile and then sent again', async () => {
    const calls = new FakeTableCalls();
    const { clock, bigtable, submit, outcomes, metrics, last } = setUp({ calls: { t: calls } });
    const both = [submit('a'), submit('b')];
    await clock.advance(0);
    const creation = Promise.withResolvers<undefined>();
    const create = calls.create.bind(calls);
    calls.create = (...call) => creation.promise.then(() => create(...call));
    all(last(), NO_TABLE);
    await clock.advance(0);
    expect(metrics.snapshot().gauges).toMatchObject({ parkedEntries: 2, inFlightEntries: 2 });
    creation.resolve(undefined);
    await clock.advance(0);
    expect(bigtable.requests.map(({ rows }) => rows)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    last().applyAll();
    await Promise.all(both);
    expect([outcomes.a, outcomes.b]).toEqual([{ kind: 'applied' }, { kind: 'applied' }]);
    expect(metrics.snapshot().counters).toMatchObject({ tablesCreated: 1, recordsApplied: 2 });
    await clock.advance(0);
    expect(metrics.snapshot().gauges).toMatchObject({ parkedEntries: 0, inFlightEntries: 0 });
    expect(clock.pending).toBe(0);
  });

  test('lends its request slots while it is ensured, and lets nothing overtake in a row', async () => {
    const calls = new FakeTableCalls();
    const { clock, bigtable, submit, last } = setUp({ calls: { t: calls } });
    const writes = [submit('a')];
    await clock.advance(0);
    calls.failWith(TABLE, 'UNAVAILABLE');
    all(last(), NO_TABLE);
    await clock.advance(0);
    writes.push(submit('a'), submit('b'));
    await clock.advance(0);
    // The second write of `a` waits for the first.
    expect(last().rows).toEqual(['b']);
    last().applyAll();
    calls.before = () => undefined;
    await clock.advance(500);
    expect(last().rows).toEqual(['a']);
    last().applyAll();
    await clock.advance(0);
    expect(last().rows).toEqual(['a']);
    expect(bigtable.requests).toHaveLength(4);
    last().applyAll();
    await Promise.all(writes);
  });

  test('each is ensured by itself: one that fails costs its own entries an attempt', async () => {
    const calls = { t: new FakeTableCalls(), other: new FakeTableCalls() };
    const { clock, bigtable, submit, outcomes, metrics } = setUp({ calls });
    calls.t.failWith(TABLE, 'UNAVAILABLE');
    const both = [submit('a'), submit('b', { table: OTHER })];
    await clock.advance(0);
    for (const request of bigtable.requests.slice()) all(request, NO_TABLE);
    await clock.advance(0);
    expect(bigtable.requests).toHaveLength(3);
    bigtable.requests[2]!.applyAll();
    await clock.advance(0);
    expect(outcomes).toEqual({ b: { kind: 'applied' } });
    calls.t.before = () => undefined;
    await clock.advance(500);
    bigtable.requests[3]!.applyAll();
    await Promise.all(both);
    expect(outcomes.a).toEqual({ kind: 'applied' });
    expect(metrics.snapshot().counters).toMatchObject({ tablesCreated: 2 });
  });

  test('that cannot be ensured is tried on the schedule, and ends with its own failure', async () => {
    const calls = new FakeTableCalls();
    calls.failWith(TABLE, 'PERMISSION_DENIED');
    const { clock, bigtable, submit, outcomes, metrics, last } = setUp({ calls: { t: calls } });
    const write = submit('a');
    await clock.advance(0);
    all(last(), NO_TABLE);
    const waits = [500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000];
    for (const [index, millis] of waits.entries()) {
      await clock.advance(millis - 1);
      expect(calls.log).toHaveLength(index + 1);
      await clock.advance(1);
    }
    expect(calls.log).toHaveLength(10);
    // The last word is Bigtable's.
    expect(bigtable.requests).toHaveLength(2);
    all(last(), NO_TABLE);
    await write;
    expect(outcomes.a).toMatchObject({ kind: 'redeliver', reason: 'missing-table' });
    expect(JSON.stringify(outcomes.a)).toContain('at last because create on p.i.t answered PERMISSION_DENIED');
    expect(metrics.snapshot().labelled).toEqual([{ metric: 'errorClass.errors', label: 'NOT_FOUND', value: 2 }]);
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  test('whose ensure hangs is given up on after 30 s, as one attempt', async () => {
    const calls = new FakeTableCalls();
    const { clock, submit, outcomes, lines, last } = setUp({ calls: { t: calls } });
    const create = calls.create.bind(calls);
    calls.create = (_table, _options, ...[signal]: [AbortSignal?]) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    const write = submit('a');
    await clock.advance(0);
    all(last(), NO_TABLE);
    await clock.advance(30_000);
    expect(lines.join()).toContain('did not finish within 30000 ms');
    calls.create = create;
    await clock.advance(500);
    last().applyAll();
    await write;
    expect(outcomes.a).toEqual({ kind: 'applied' });
  });

  test('ends with the invocation: its entries are free at once and the reason says what was missing', async () => {
    const calls = new FakeTableCalls();
    calls.failWith(TABLE, 'UNAVAILABLE');
    const { clock, bigtable, submit, outcomes, metrics, last } = setUp({ calls: { t: calls } });
    const controller = new AbortController();
    const write = submit('a', { signal: controller.signal });
    await clock.advance(0);
    all(last(), NO_TABLE);
    await clock.advance(100);
    controller.abort(new Error('no time left'));
    await write;
    expect(outcomes.a).toEqual({
      kind: 'redeliver',
      reason: 'missing-table',
      message: 'no time left; the table was missing; create on p.i.t answered UNAVAILABLE: on request',
    });
    expect(metrics.snapshot().gauges).toMatchObject({ inFlightEntries: 0, inFlightBytes: 0 });
    await clock.advance(60_000);
    expect(bigtable.requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
    expect(metrics.snapshot().gauges).toMatchObject({ parkedEntries: 0 });
  });
});

describe('a missing family', () => {
  test('that is declared and not yet seen everywhere is waited for; one that exists undeclared is not blamed', async () => {
    const calls = new FakeTableCalls({ own: 'raw' });
    const { clock, bigtable, submit, outcomes, last } = setUp({ calls: { t: calls } });
    const both = [submit('a'), submit('b', { family: 'own' })];
    await clock.advance(0);
    for (const pause of [0, 500, 1000, 2000]) {
      all(last(), NO_FAMILY);
      await clock.advance(pause);
    }
    expect(bigtable.requests).toHaveLength(5);
    last().applyAll();
    await Promise.all(both);
    expect(Object.values(outcomes)).toEqual([{ kind: 'applied' }, { kind: 'applied' }]);
    expect(calls.log).toEqual(['create', 'read', 'add f']);
  });

  test('that is undeclared is named at the first answer after the ensure, the others go again at once', async () => {
    const calls = new FakeTableCalls({ f: 'raw' });
    const { clock, bigtable, submit, outcomes, last } = setUp({ calls: { t: calls } });
    const writes = [submit('a'), submit('b', { family: 'x' }), submit('c'), submit('d', { family: 'y' })];
    await clock.advance(0);
    all(last(), NO_FAMILY);
    await clock.advance(0);
    all(last(), NO_FAMILY);
    await clock.advance(0);
    expect(last().rows).toEqual(['a', 'c']);
    last().applyAll();
    await Promise.all(writes);
    expect(outcomes.a).toEqual({ kind: 'applied' });
    expect(outcomes.b).toMatchObject({ kind: 'redeliver', reason: 'missing-family' });
    expect(JSON.stringify(outcomes.b)).toContain('p.i.t answered NOT_FOUND: the table has no column family');
    expect(bigtable.requests).toHaveLength(3);
  });

  test('is not looked for again within 10 s, and then is', async () => {
    const calls = new FakeTableCalls({ f: 'raw' });
    const { clock, submit, outcomes, last } = setUp({ calls: { t: calls } });
    const miss = async (answers: number): Promise<void> => {
      const write = submit('a', { family: 'x' });
      await clock.advance(0);
      for (let told = 0; told < answers; told += 1) {
        all(last(), NO_FAMILY);
        await clock.advance(0);
      }
      await write;
      expect(outcomes.a).toMatchObject({ reason: 'missing-family' });
    };
    await miss(2);
    await clock.advance(9_999);
    await miss(1);
    expect(calls.log).toEqual(['create', 'read']);
    await clock.advance(1);
    await miss(2);
    expect(calls.log).toHaveLength(4);
  });

  test('that cannot be added: the suspicion is narrowed down, and only who names it waits', async () => {
    const calls = new FakeTableCalls({ f: 'raw' });
    calls.before = (call) => {
      if (call.startsWith('add')) throw new Error('not allowed');
    };
    const { clock, bigtable, submit, outcomes, metrics } = setUp({
      calls: { t: calls },
      declared: { f: 'raw', g: 'raw' },
    });
    const writes = ['a', 'b', 'c', 'd'].map((row) => submit(row, { family: row === 'c' ? 'g' : 'f' }));
    await clock.advance(0);
    const answer = async (): Promise<void> => {
      for (const request of bigtable.requests) {
        if (request.rows.includes('c')) all(request, NO_FAMILY);
        else request.applyAll();
      }
      await clock.advance(0);
    };
    for (let round = 0; round < 6; round += 1) await answer();
    expect(Object.keys(outcomes).toSorted()).toEqual(['a', 'b', 'd']);
    expect(metrics.snapshot().gauges).toMatchObject({ parkedEntries: 1 });
    calls.before = () => undefined;
    await clock.advance(500);
    expect(bigtable.requests.at(-1)!.rows).toEqual(['c']);
    bigtable.requests.at(-1)!.applyAll();
    await Promise.all(writes);
    expect(outcomes.c).toEqual({ kind: 'applied' });
  });

  test('an answer that stays NOT_FOUND uses up the attempts, and the hint names what could look like it', async () => {
    const calls = new FakeTableCalls({ f: 'raw' });
    const { clock, bigtable, submit, outcomes, last } = setUp({ calls: { t: calls }, maxAttempts: 3 });
    const write = submit('a');
    await clock.advance(0);
    for (const pause of [0, 500, 1000, 0]) {
      all(last(), NO_TABLE);
      await clock.advance(pause);
    }
    all(last(), NO_TABLE);
    await write;
    expect(bigtable.requests).toHaveLength(5);
    expect(JSON.stringify(outcomes.a)).toContain('still after 3 attempts (recoveryMaxAttempts)');
    expect(JSON.stringify(outcomes.a)).toContain('a family that tableCreateOptions does not declare');
  });

  test('every attempt that a table refuses to be ensured costs is a call, also where timers fire early', async () => {
    const calls = new FakeTableCalls();
    calls.failWith(TABLE, 'PERMISSION_DENIED');
    const clock = new EarlyClock(0);
    const { submit, outcomes, last, bigtable } = setUp({ clock, calls: { t: calls }, maxAttempts: 3 });
    const write = submit('a');
    await clock.advance(0);
    all(last(), NO_TABLE);
    await clock.advance(501);
    await clock.advance(1001);
    expect(calls.log).toEqual(['create', 'create', 'create']);
    expect(bigtable.requests).toHaveLength(2);
    all(last(), NO_TABLE);
    await write;
    expect(JSON.stringify(outcomes.a)).toContain('could not be ensured within 3 attempts');
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  test('an invalid entry that comes to light only then is rejected, alone', async () => {
    const calls = new FakeTableCalls();
    const { clock, submit, outcomes, last } = setUp({ calls: { t: calls } });
    const both = [submit('good'), submit('bad')];
    const invalid: EntryAnswer = { kind: 'refused', status: { code: 'INVALID_ARGUMENT', message: 'm' } };
    await clock.advance(0);
    all(last(), NO_TABLE);
    await clock.advance(0);
    all(last(), invalid);
    await clock.advance(0);
    last().applyAll();
    await clock.advance(0);
    all(last(), invalid);
    await Promise.all(both);
    expect([outcomes.good?.kind, outcomes.bad?.kind]).toEqual(['applied', 'rejected']);
  });

  test('a transient failure interrupts a repair and does not start its attempts over', async () => {
    const calls = new FakeTableCalls({ f: 'raw' });
    const { clock, submit, outcomes, last } = setUp({ calls: { t: calls }, maxAttempts: 2 });
    const write = submit('a');
    await clock.advance(0);
    all(last(), NO_TABLE);
    await clock.advance(0);
    all(last(), { kind: 'unanswered', status: { code: 'UNAVAILABLE', message: 'm' } });
    await clock.advance(100);
    all(last(), NO_TABLE);
    await clock.advance(500);
    all(last(), NO_TABLE);
    await clock.advance(0);
    all(last(), NO_TABLE);
    await write;
    expect(JSON.stringify(outcomes.a)).toContain('still after 2 attempts');
  });
});

describe('aggregate families', () => {
  const declared = { f: 'raw', sum: 'int64-sum' } as const;

  test('are checked before the first write; a mismatch answers a whole message with one look, and is forgotten', async () => {
    const calls = new FakeTableCalls({ sum: 'raw' });
    const { clock, bigtable, submit, outcomes, last } = setUp({ calls: { t: calls }, declared });
    await Promise.all(['a', 'b', 'c'].map((row) => submit(row)));
    expect(outcomes.c).toMatchObject({ kind: 'redeliver', reason: 'refused' });
    expect([calls.log, bigtable.requests]).toEqual([['read'], []]);
    calls.families = new Map();
    await clock.advance(500);
    const write = submit('d');
    await clock.advance(0);
    last().applyAll();
    await write;
    expect(outcomes.d).toEqual({ kind: 'applied' });
    expect(calls.log).toEqual(['read', 'read']);
  });

  test('that another instance creates with another type are refused at once, whatever attempts are left', async () => {
    const calls = new FakeTableCalls();
    const { clock, submit, outcomes, last } = setUp({ calls: { t: calls }, declared });
    const write = submit('a');
    await clock.advance(0);
    calls.families = new Map([['sum', 'raw']]);
    all(last(), NO_FAMILY);
    await clock.advance(0);
    await write;
    expect(outcomes.a).toMatchObject({ kind: 'redeliver', reason: 'refused' });
    expect(JSON.stringify(outcomes.a)).toContain('the column family sum of p.i.t is of the type raw');
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  test('the wait for the check ends with the invocation', async () => {
    const calls = new FakeTableCalls();
    const { submit, outcomes } = setUp({ calls: { t: calls }, declared });
    const look = Promise.withResolvers<undefined>();
    calls.read = () => look.promise;
    const controller = new AbortController();
    const write = submit('a', { signal: controller.signal });
    controller.abort(new Error('no time left'));
    await write;
    expect(outcomes.a).toEqual({ kind: 'redeliver', reason: 'deadline', message: 'no time left' });
    look.resolve(undefined);
  });
});

test('what is remembered of tables is bounded: the least recently used is forgotten', async () => {
  const { tables } = setUp();
  const nth = (index: number): TableName => tableName('p', 'i', `t${index}`);
  for (let index = 0; index < 1001; index += 1) await tables.ensure(nth(index), undefined);
  expect(tables.known(nth(0))).toBeUndefined();
  expect(tables.known(nth(1))).toMatchObject({ kind: 'ensured' });
});
