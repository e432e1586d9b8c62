import { describe, expect, test } from 'vitest';
import { Batcher, type BatcherOptions } from '../../../shared/bulk/batcher.ts';
import type { Outcome } from '../../../shared/bulk/outcome.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { testRuntime } from '../../support/runtime.ts';
import { ScriptedMutateRows } from '../../support/scripted-mutate-rows.ts';
import { numberedEntry } from '../../support/simulated-bigtable.ts';

const ORDERS = tableName('p', 'i', 'orders');

const OPTIONS: BatcherOptions = {
  batchElementCountThreshold: 100,
  batchRequestByteThreshold: 1_000_000,
  maxInFlightEntries: 1000,
  maxInFlightBytes: 1_000_000,
  maxConcurrentBatches: 1,
  lingerMillis: 0,
  requestTimeoutMillis: 5000,
  retryInitialBackoffMillis: 100,
  retryMaxBackoffMillis: 400,
};

function setUp(options: Partial<BatcherOptions> = {}) {
  const bigtable = new ScriptedMutateRows();
  const runtime = testRuntime({ clock: new ManualClock(0) });
  const { clock, metrics, lines } = runtime;
  const batcher = new Batcher({ ...OPTIONS, ...options }, { mutateRows: bigtable, runtime });
  const outcomes: (Outcome | undefined)[] = [];
  let submitted = 0;
  const submit = async (row: string, { table = ORDERS, signal = new AbortController().signal } = {}): Promise<void> => {
    const index = submitted++;
    outcomes[index] = undefined;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    await batcher.submit(table, numberedEntry(row, index), signal, resolve);
    outcomes[index] = await promise;
  };
  return { clock, bigtable, metrics, lines, batcher, outcomes, submit };
}

const kinds = (outcomes: readonly (Outcome | undefined)[]): (string | undefined)[] =>
  outcomes.map((outcome) => outcome?.kind);

describe('group commit', () => {
  test('a lone record leaves at once, and what arrives while its request is out leaves together when it returns', async () => {
    const { clock, bigtable, submit, outcomes } = setUp();
    const all = [submit('a')];
    await clock.advance(0);
    expect(bigtable.requests.map(({ rows }) => rows)).toEqual([['a']]);
    for (const row of ['b', 'c', 'd']) all.push(submit(row));
    await clock.advance(0);
    expect(bigtable.requests).toHaveLength(1);
    bigtable.requests[0]!.applyAll();
    await clock.advance(0);
    expect(bigtable.requests[1]!.rows).toEqual(['b', 'c', 'd']);
    bigtable.requests[1]!.applyAll();
    await Promise.all(all);
    expect(kinds(outcomes)).toEqual(['applied', 'applied', 'applied', 'applied']);
  });

  test('what is submitted in one turn leaves in one request', async () => {
    const { clock, bigtable, submit } = setUp({ maxConcurrentBatches: 4 });
    const all = ['a', 'b', 'c'].map((row) => submit(row));
    await clock.advance(0);
    expect(bigtable.requests.map(({ rows }) => rows)).toEqual([['a', 'b', 'c']]);
    bigtable.requests[0]!.applyAll();
    await Promise.all(all);
  });

  test('tables have requests of their own and share the caps', async () => {
    const { clock, bigtable, submit } = setUp({ maxInFlightEntries: 2 });
    const other = tableName('p', 'i', 'other');
    const all = [submit('a'), submit('b', { table: other }), submit('c')];
    await clock.advance(0);
    expect(bigtable.requests.map(({ call }) => call.table.table)).toEqual(['orders', 'other']);
    bigtable.requests[1]!.applyAll();
    await clock.advance(0);
    bigtable.requests[0]!.applyAll();
    await clock.advance(0);
    expect(bigtable.requests[2]!.rows).toEqual(['c']);
    bigtable.requests[2]!.applyAll();
    await Promise.all(all);
  });

  test('with a linger, entries wait for company, for no longer than it and not at a full threshold', async () => {
    const { clock, bigtable, submit } = setUp({
      lingerMillis: 50,
      batchElementCountThreshold: 3,
      maxConcurrentBatches: 9,
    });
    const all = [submit('a'), submit('b')];
    await clock.advance(49);
    expect(bigtable.requests).toHaveLength(0);
    await clock.advance(1);
    expect(bigtable.requests[0]!.rows).toEqual(['a', 'b']);
    for (const row of ['c', 'd', 'e']) all.push(submit(row));
    await clock.advance(0);
    expect(bigtable.requests[1]!.rows).toEqual(['c', 'd', 'e']);
    for (const request of bigtable.requests) request.applyAll();
    await Promise.all(all);
  });

  test('at a full cap, lingering entries are sent: waiting would only keep others out', async () => {
    const { clock, bigtable, submit } = setUp({ lingerMillis: 10_000, maxInFlightEntries: 2 });
    const all = ['a', 'b', 'c'].map((row) => submit(row));
    await clock.advance(0);
    expect(bigtable.requests[0]!.rows).toEqual(['a', 'b']);
    bigtable.requests[0]!.applyAll();
    await clock.advance(10_000);
    bigtable.requests[1]!.applyAll();
    await Promise.all(all);
  });

  test('a drain ends all lingering', async () => {
    const { clock, bigtable, submit, batcher } = setUp({ lingerMillis: 10_000 });
    const all = [submit('a')];
    await clock.advance(0);
    batcher.drain();
    expect(bigtable.requests[0]!.rows).toEqual(['a']);
    bigtable.requests[0]!.applyAll();
    await Promise.all(all);
  });
});

describe('transient failures', () => {
  test('only the unanswered entries are sent again, after a backoff', async () => {
    const { clock, bigtable, submit, outcomes, metrics } = setUp();
    const all = [submit('a'), submit('b')];
    await clock.advance(0);
    bigtable.requests[0]!.reply({ answers: [{ kind: 'applied' }, { kind: 'unanswered' }] });
    await clock.advance(99);
    expect(bigtable.requests).toHaveLength(1);
    await clock.advance(1);
    expect(bigtable.requests[1]!.rows).toEqual(['b']);
    bigtable.requests[1]!.applyAll();
    await Promise.all(all);
    expect(kinds(outcomes)).toEqual(['applied', 'applied']);
    expect(metrics.snapshot().counters).toMatchObject({ numRecordsSend: 2, entriesRetried: 1, recordsApplied: 2 });
  });

  test('a reply with fewer answers than entries leaves the rest unanswered', async () => {
    const { clock, bigtable, submit, outcomes } = setUp();
    const all = [submit('a'), submit('b')];
    await clock.advance(0);
    bigtable.requests[0]!.reply({ answers: [{ kind: 'applied' }] });
    await clock.advance(100);
    expect(kinds(outcomes)).toEqual(['applied', undefined]);
    bigtable.requests[1]!.applyAll();
    await Promise.all(all);
  });

  test('a deadline ends the wait, says what was answered last, and frees what the entry held', async () => {
    const { clock, bigtable, submit, outcomes, metrics } = setUp();
    const controller = new AbortController();
    const all = submit('a', { signal: controller.signal });
    await clock.advance(0);
    bigtable.requests[0]!.reply({ answers: [{ kind: 'unanswered', status: { code: 'UNAVAILABLE', message: 'm' } }] });
    await clock.advance(10);
    controller.abort(new Error('no time left'));
    await all;
    expect(outcomes[0]).toMatchObject({
      kind: 'redeliver',
      reason: 'transient',
      message: 'no time left; the last answer was UNAVAILABLE',
    });
    await clock.advance(1000);
    expect(bigtable.requests).toHaveLength(1);
    expect(metrics.snapshot().gauges).toMatchObject({ inFlightEntries: 0, parkedEntries: 0 });
    expect(clock.pending).toBe(0);
  });

  test('an entry on the wire keeps its admission after its invocation is gone, until it is answered', async () => {
    const { clock, bigtable, submit, metrics } = setUp();
    const controller = new AbortController();
    const all = submit('a', { signal: controller.signal });
    await clock.advance(0);
    controller.abort(new Error('no time left'));
    await all;
    expect(metrics.snapshot().gauges).toMatchObject({ inFlightEntries: 1 });
    bigtable.requests[0]!.applyAll();
    await clock.advance(0);
    expect(metrics.snapshot().gauges).toMatchObject({ inFlightEntries: 0 });
  });

  test('a request that could not be made gives everything back to Pub/Sub and frees the rows', async () => {
    const { clock, bigtable, submit, outcomes, lines } = setUp();
    const all = [submit('a')];
    await clock.advance(0);
    bigtable.requests[0]!.fail(new Error('no credentials'));
    await clock.advance(0);
    expect(outcomes[0]).toMatchObject({ kind: 'redeliver', reason: 'client' });
    expect(lines.join()).toContain('no credentials');
    all.push(submit('a'));
    await clock.advance(0);
    bigtable.requests[1]!.applyAll();
    await Promise.all(all);
    expect(outcomes[1]).toMatchObject({ kind: 'applied' });
  });

  test('RESOURCE_EXHAUSTED goes back to Pub/Sub and slows what follows', async () => {
    const { clock, bigtable, submit, outcomes, metrics } = setUp();
    const all = Array.from({ length: 50 }, (_, index) => submit(`row-${index}`));
    await clock.advance(0);
    const answer = { kind: 'refused', status: { code: 'RESOURCE_EXHAUSTED', message: 'quota' } } as const;
    bigtable.requests[0]!.reply({ answers: Array.from({ length: 50 }, () => answer) });
    await Promise.all(all);
    expect(outcomes[0]).toMatchObject({ kind: 'redeliver', reason: 'transient' });
    // The limit is a hundred a second: half of what the first quarter of a second had seen.
    const second = Array.from({ length: 50 }, (_, index) => submit(`again-${index}`));
    await clock.advance(0);
    bigtable.requests[1]!.applyAll();
    await clock.advance(0);
    const third = submit('third');
    await clock.advance(499);
    expect(bigtable.requests).toHaveLength(2);
    await clock.advance(1);
    bigtable.requests[2]!.applyAll();
    await Promise.all([...second, third]);
    expect(metrics.snapshot().counters).toMatchObject({ throttledTime: 500 });
  });
});

describe('the stall warning', () => {
  const warnings = (lines: readonly string[]): number => lines.filter((line) => line.includes('no answer for')).length;

  test('comes after a minute of silence, once a minute, and says what is held', async () => {
    const { clock, bigtable, submit, lines } = setUp();
    const all = submit('a');
    await clock.advance(59_999);
    expect(warnings(lines)).toBe(0);
    await clock.advance(1);
    expect(warnings(lines)).toBe(1);
    expect(lines[0]).toContain('"entries":1');
    await clock.advance(59_999);
    expect(warnings(lines)).toBe(1);
    await clock.advance(1);
    expect(warnings(lines)).toBe(2);
    bigtable.requests[0]!.applyAll();
    await all;
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  test('our own deadlines are silence, a refusal is an answer', async () => {
    const { clock, bigtable, submit, lines } = setUp({ retryMaxBackoffMillis: 100 });
    const controller = new AbortController();
    const all = submit('a', { signal: controller.signal });
    const silence = { answers: [{ kind: 'unanswered', status: { code: 'DEADLINE_EXCEEDED', message: '' } }] } as const;
    const answerAll = async (isHeard: boolean): Promise<void> => {
      for (let second = 0; second < 61; second += 1) {
        bigtable.requests.at(-1)!.reply({ ...silence, isHeard });
        await clock.advance(1000);
      }
    };
    await clock.advance(0);
    await answerAll(true);
    expect(warnings(lines)).toBe(0);
    await answerAll(false);
    expect(warnings(lines)).toBe(1);
    controller.abort(new Error('done'));
    await all;
    bigtable.requests.at(-1)!.applyAll();
    await clock.advance(0);
  });

  test('an idle minute before is no stall', async () => {
    const { clock, bigtable, submit, lines } = setUp();
    await clock.advance(600_000);
    const all = submit('a');
    await clock.advance(30_000);
    bigtable.requests[0]!.applyAll();
    await all;
    expect(warnings(lines)).toBe(0);
  });
});
