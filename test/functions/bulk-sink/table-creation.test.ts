import { expect, describe, test } from 'vitest';
import { expectFields } from '../../support/known-fields.ts';
import { Table_View, type ColumnFamily } from '../../../shared/proto/google/bigtable/admin/v2/table.ts';
import { createTable } from '../../support/bigtable-raw-client.ts';
import { type SinkHarness, type SinkOptions, startSink, TABLE } from '../../support/sink-harness.ts';
import { badLine, entryLine } from '../../support/test-entry.ts';
import { unary } from '../../../infra/local/cloud/unary.ts';

const FAST = { recoveryInitialBackoff: '5ms', recoveryMaxBackoff: '20ms' };

const creating = (families: object, more: SinkOptions = {}): SinkOptions => ({
  families: null,
  ...more,
  pipeline: {
    framing: 'ndjson',
    createDisposition: 'create-if-needed',
    tableCreateOptions: { families },
    writerOptions: FAST,
    ...more.pipeline,
  },
});

const lines = (count: number, family = 'f'): string =>
  Array.from({ length: count }, (_, index) => entryLine(`row-${String(index).padStart(3, '0')}`, 'v', { family })).join(
    '\n',
  );

const keys = async (sink: SinkHarness): Promise<string[]> => (await sink.rows()).map(({ key }) => key);

const schema = async ({ client }: SinkHarness): Promise<Readonly<Record<string, ColumnFamily>>> => {
  const get = client.admin.getTable.bind(client.admin);
  return (await unary(get, { name: TABLE, view: Table_View.SCHEMA_VIEW })).columnFamilies;
};

const aggregatorOf = ({ valueType }: ColumnFamily): string | undefined =>
  valueType?.kind?.$case === 'aggregateType' ? valueType.kind.value.aggregator?.$case : undefined;

describe('a missing table', () => {
  test('is created with its families, types and rules, and every record is applied', async () => {
    await using sink = await startSink(
      creating({
        // Keeps the newest cell, however old: those of the test are.
        f: { gcRule: { intersection: [{ maxVersions: 1 }, { union: [{ maxAge: '30d' }, { maxAge: '1500ms' }] }] } },
        sums: { type: 'int64-sum' },
        uniques: { type: 'int64-hll' },
      }),
    );
    expect((await sink.push({ data: lines(50) })).status).toBe(204);
    expect(await keys(sink)).toHaveLength(50);
    const { f, sums, uniques } = await schema(sink);
    expect(f?.valueType).toBeUndefined();
    const age = (seconds: bigint, nanos = 0) => ({ rule: { $case: 'maxAge', value: { seconds, nanos } } });
    expectFields(f?.gcRule, {
      rule: {
        $case: 'intersection',
        value: {
          rules: [
            { rule: { $case: 'maxNumVersions', value: 1 } },
            {
              rule: {
                $case: 'union',
                value: { rules: [age(2_592_000n), age(1n, 500_000_000)] },
              },
            },
          ],
        },
      },
    });
    expect([aggregatorOf(sums!), aggregatorOf(uniques!)]).toEqual(['sum', 'hllppUniqueCount']);
    expect(sums?.gcRule).toBeUndefined();
    expect(sink.count('tablesCreated')).toBe(1);
    expect(sink.count('columnFamiliesAdded')).toBe(0);
    expect(sink.count('errorClass.errors', 'NOT_FOUND')).toBe(50);
    expect(sink.requests).toHaveLength(2);
  });

  test('is created once by an instance, however many messages miss it at once', async () => {
    await using sink = await startSink(creating({ f: {} }));
    const pushes = Array.from({ length: 30 }, (_, index) => sink.push({ data: goodEntryLine(index) }));
    expect(new Set((await Promise.all(pushes)).map(({ status }) => status))).toEqual(new Set([204]));
    expect(await keys(sink)).toHaveLength(30);
    expect(sink.bigtable.requestCounts().CreateTable).toBe(1);
  });

  test('is created by one of four racing instances; all of them write, and one counts it', async () => {
    await using first = await startSink(creating({ f: {}, g: {} }));
    const at = { families: null, bigtable: first.bigtable } as const;
    await using second = await startSink(creating({ f: {}, g: {} }, at));
    await using third = await startSink(creating({ f: {}, g: {} }, at));
    await using fourth = await startSink(creating({ f: {}, g: {} }, at));
    const fleet = [first, second, third, fourth];
    const answers = await Promise.all(
      fleet.map((sink, instance) =>
        sink.push({
          data: Array.from({ length: 25 }, (_, index) => entryLine(`row-${instance}-${index}`, 'v')).join('\n'),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    expect(await keys(first)).toHaveLength(100);
    expect(fleet.reduce((sum, sink) => sum + sink.count('tablesCreated'), 0)).toBe(1);
    expect(fleet.reduce((sum, sink) => sum + sink.count('columnFamiliesAdded'), 0)).toBe(0);
  });

  test('an admin call that fails in passing costs an attempt, not the records', async () => {
    await using sink = await startSink(creating({ f: {} }));
    const effect = { kind: 'refuse', status: { code: 'UNAVAILABLE', message: 'in passing' } } as const;
    sink.bigtable.faults.add({ method: 'CreateTable', times: 2, effect });
    expect((await sink.push({ data: lines(10) })).status).toBe(204);
    expect(await keys(sink)).toHaveLength(10);
    expect(sink.bigtable.requestCounts().CreateTable).toBe(3);
    expect(sink.logs.filter(({ message }) => message === 'a table could not be ensured')).toHaveLength(2);
  });

  test('a creation whose answer is lost is found done', async () => {
    await using sink = await startSink(creating({ f: {} }));
    const effect = { kind: 'lose-answer', status: { code: 'DEADLINE_EXCEEDED', message: 'lost' } } as const;
    sink.bigtable.faults.add({ method: 'CreateTable', effect });
    expect((await sink.push({ data: lines(3) })).status).toBe(204);
    expect(sink.count('tablesCreated')).toBe(0);
  });

  test('what cannot be created is redelivered with the refusal named, and never dead-lettered', async () => {
    await using sink = await startSink(
      creating({ f: {} }, { deadLetters: 'topic', pipeline: { writerOptions: { ...FAST, recoveryMaxAttempts: 3 } } }),
    );
    const effect = { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'no right to' } } as const;
    const fault = sink.bigtable.faults.add({ method: 'CreateTable', times: Infinity, effect });
    const { status, text } = await sink.push({ data: lines(5) });
    expect(status).toBe(503);
    expect(text).toContain('the table could not be ensured within 3 attempts');
    expect(text).toContain('CreateTable on p.i.t answered PERMISSION_DENIED: no right to');
    expect(fault.hits).toBe(3);
    expect(sink.count('messagesRedelivered', 'missing-table')).toBe(1);
    expect(await sink.letters()).toEqual([]);
    fault.remove();
    expect((await sink.push({ data: lines(5) })).status).toBe(204);
  });

  test('a bad record among those that waited for it is dead-lettered, alone', async () => {
    await using sink = await startSink(creating({ f: {} }, { deadLetters: 'topic' }));
    expect((await sink.push({ data: `${lines(10)}\n${badLine('bad')}` })).status).toBe(204);
    expect(await keys(sink)).toHaveLength(10);
    expect(await sink.letters()).toHaveLength(1);
  });
});

describe('a missing family', () => {
  test('is added without touching the others, and counts as a family, not a table', async () => {
    await using sink = await startSink(creating({ f: { gcRule: { maxVersions: 9 } }, later: {} }));
    const rule = { rule: { $case: 'maxNumVersions', value: 3 } } as const;
    await createTable(sink.client, 't', { f: { gcRule: rule }, own: {} });
    expect((await sink.push({ data: `${lines(4)}\n${entryLine('new', 'v', { family: 'later' })}` })).status).toBe(204);
    expect(await keys(sink)).toHaveLength(5);
    const families = await schema(sink);
    expect(Object.keys(families).toSorted()).toEqual(['f', 'later', 'own']);
    expectFields(families.f?.gcRule, rule);
    expect([sink.count('tablesCreated'), sink.count('columnFamiliesAdded')]).toEqual([0, 1]);
  });

  test('that is not declared is redelivered by name, while everything else is applied', async () => {
    await using sink = await startSink(creating({ f: {} }, { deadLetters: 'topic' }));
    const data = `${lines(20)}\n${entryLine('lost', 'v', { family: 'undeclared' })}`;
    const { status, text } = await sink.push({ data });
    expect(status).toBe(503);
    expect(text).toContain('p.i.t');
    expect(text).toContain('no column family "undeclared"');
    expect(await keys(sink)).toHaveLength(20);
    expect(await sink.letters()).toEqual([]);
    expect(sink.count('messagesRedelivered', 'missing-family')).toBe(1);
    // Missed, ensured, missed by name, the others alone.
    expect(sink.requests).toHaveLength(3);

    // The table was ensured just now: it is not asked about again.
    expect((await sink.push({ data })).text).toContain('no column family "undeclared"');
    expect(sink.bigtable.requestCounts().CreateTable).toBe(1);
    expect(JSON.stringify(sink.logs)).not.toContain('lost');
  });

  test('in a hot row takes none of its neighbours down', async () => {
    await using sink = await startSink(creating({ f: {} }));
    const hot = [entryLine('hot', 'a'), entryLine('hot', 'b', { family: 'undeclared' }), entryLine('hot', 'c')];
    expect((await sink.push({ data: hot.join('\n') })).status).toBe(503);
    expect(await sink.rows()).toEqual([{ key: 'hot', cells: ['f:q@1000=c'] }]);
  });

  test('that cannot be added holds up only the records that name it', async () => {
    await using sink = await startSink(
      creating(
        { f: {}, later: {} },
        { families: ['f'], pipeline: { writerOptions: { ...FAST, recoveryMaxAttempts: 2 } } },
      ),
    );
    const effect = { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'no right to' } } as const;
    sink.bigtable.faults.add({ method: 'ModifyColumnFamilies', times: Infinity, effect });
    const { status, text } = await sink.push({ data: `${lines(16)}\n${entryLine('z', 'v', { family: 'later' })}` });
    expect(status).toBe(503);
    expect(text).toContain('ModifyColumnFamilies on p.i.t answered PERMISSION_DENIED');
    expect(await keys(sink)).toHaveLength(16);
  });
});

describe('aggregate families', () => {
  const writerOptions = { recoveryInitialBackoff: '200ms' };
  const sums = creating({ f: {}, sums: { type: 'int64-sum' } }, { pipeline: { writerOptions } });

  test('a type mismatch is refused before anything is written, and names both types', async () => {
    await using sink = await startSink({ ...sums, families: ['f', 'sums'], deadLetters: 'topic' });
    const { status, text } = await sink.push({ data: lines(3) });
    expect(status).toBe(503);
    expect(text).toContain('the column family sums of p.i.t is of the type raw');
    expect(text).toContain('the pipeline declares int64-sum');
    expect(sink.requests).toHaveLength(0);
    expect(sink.bigtable.requestCounts().GetTable).toBe(1);
    expect(sink.count('messagesRedelivered', 'refused')).toBe(1);
    expect(await sink.letters()).toEqual([]);
  });

  test('are checked once per table', async () => {
    await using sink = await startSink(sums);
    await Promise.all([sink.push({ data: lines(3) }), sink.push({ data: lines(3) })]);
    expect((await sink.push({ data: lines(3) })).status).toBe(204);
    expect(sink.bigtable.requestCounts().GetTable).toBe(1);
  });

  test('a check that fails in passing redelivers, and is made again', async () => {
    await using sink = await startSink(sums);
    const effect = { kind: 'refuse', status: { code: 'UNAVAILABLE', message: 'in passing' } } as const;
    sink.bigtable.faults.add({ method: 'GetTable', effect });
    const { status, text } = await sink.push({ data: lines(3) });
    expect(status).toBe(503);
    expect(text).toContain('GetTable on p.i.t answered UNAVAILABLE');
    expect(sink.count('messagesRedelivered', 'transient')).toBe(1);
    expect(sink.requests).toHaveLength(0);
    await expect.poll(async () => (await sink.push({ data: lines(3) })).status).toBe(204);
    expect(sink.bigtable.requestCounts().GetTable).toBe(2);
  });
});

test('a pipeline of bytes asks the admin API nothing while nothing is missing', async () => {
  await using sink = await startSink(creating({ f: {} }, { families: ['f'] }));
  const before = sink.bigtable.requestCounts();
  expect((await sink.push({ data: lines(3) })).status).toBe(204);
  expect(sink.bigtable.requestCounts()).toEqual({ ...before, MutateRows: 1 });
});

const goodEntryLine = (index: number): string => entryLine(`row-${index}`, 'v');
