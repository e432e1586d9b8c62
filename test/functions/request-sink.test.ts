import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { setCell, mutateRow } from '../support/bigtable-raw-client.ts';
import { REQUEST_CASES } from '../support/request-cases.ts';
import { requestData, startRequests } from '../support/request-sink-harness.ts';
import { addToQ, conditional, hasQ, increment, setQ } from '../support/row-requests.ts';
import { TABLE } from '../support/sink-harness.ts';
import { newestCells, shownInt64 } from '../support/stored-rows.ts';
import { MAX_RECORDS } from '../../shared/model/record.ts';

interface Result {
  readonly correlationId: string;
  readonly table: string;
  readonly outcome: {
    readonly conditional?: { readonly predicateMatched: boolean };
    readonly readModifyWrite?: { readonly cells: readonly unknown[] };
  };
}

const resultOf = ({ data }: { readonly data: Buffer }): Result => JSON.parse(data.toString()) as Result;

describe('a message', () => {
  test('becomes one request, and its result is published before it is acknowledged', async () => {
    await using sink = await startRequests();
    expect(await sink.push({ data: requestData(increment(5n)), messageId: 'm' })).toEqual({ status: 204, text: '' });
    expect(await newestCells(sink.bigtable.address, 't')).toEqual({ k: { 'f:q': shownInt64(5n) } });
    const [message] = await sink.results.pull();
    expect(message?.attributes).toMatchObject({ 'correlation-id': 'm', 'message-id': 'm', 'record-index': '0' });
    expect(resultOf(message!)).toMatchObject({ correlationId: 'm', table: 'p.i.t' });
    expect(sink.count('requestsCompleted')).toBe(1);
    expect(sink.count('resultsPublished')).toBe(1);
  });

  test('of many records becomes many requests, those of one row in their order', async () => {
    await using sink = await startRequests({ pipeline: { framing: 'ndjson' } });
    const append = (text: string): string =>
      JSON.stringify({
        version: 1,
        readModifyWrite: { rowKey: 'k', rules: [{ append: { family: 'f', qualifier: 'q', value: text } }] },
      });
    const data = Array.from({ length: 20 }, (_, index) => append(`${index},`)).join('\n');
    expect((await sink.push({ data })).status).toBe(204);
    const expected = Array.from({ length: 20 }, (_, index) => `${index},`).join('');
    expect(await newestCells(sink.bigtable.address, 't')).toEqual({ k: { 'f:q': expected } });
  });

  test('of more records than one may hold is one bad record, whole', async () => {
    await using sink = await startRequests({ pipeline: { framing: 'ndjson' } });
    expect((await sink.push({ data: '{}\n'.repeat(MAX_RECORDS + 1) })).status).toBe(204);
    expect((await sink.letters()).map(({ attributes }) => attributes['dlq-payload'])).toEqual(['message']);
  });

  test('names its own table and correlation id', async () => {
    await using sink = await startRequests();
    await sink.createTable('other', ['f']);
    await sink.push({ data: requestData(increment(1n), { table: 'other', correlationId: 'mine' }) });
    expect(await newestCells(sink.bigtable.address, 'other')).toEqual({ k: { 'f:q': shownInt64(1n) } });
    const [message] = await sink.results.pull();
    expect(resultOf(message!)).toMatchObject({ correlationId: 'mine', table: 'p.i.other' });
  });

  test('to a table that is not there is redelivered, whatever the policy', async () => {
    await using sink = await startRequests();
    const { status, text } = await sink.push({ data: requestData(increment(1n), { table: 'missing' }) });
    expect(status).toBe(503);
    expect(text).toContain('the table does not exist');
    expect(await sink.letters()).toEqual([]);
  });

  test('that no request can be read from goes to the policy as it is', async () => {
    await using sink = await startRequests();
    expect((await sink.push({ data: '{"version":1}' })).status).toBe(204);
    const [letter] = await sink.letters();
    expect(letter?.attributes).toMatchObject({ 'dlq-reason': 'serializer', 'dlq-payload': 'record' });
    expect(sink.count('requestsFailed')).toBe(1);
    expect(sink.count('numRecordsSendErrors')).toBe(1);
  });
});

describe('a request that Bigtable refuses', () => {
  // What is stored is no counter.
  const wrong = { rowKey: Buffer.from('k'), tableName: TABLE, mutations: [setCell('f', 'q', 'text')] };

  test('is a dead letter with its full payload, and applies once it is published back after the cause is fixed', async () => {
    await using sink = await startRequests();
    await mutateRow(sink.client, wrong);
    const data = requestData(increment(3n), { correlationId: 'mine' });
    expect((await sink.push({ data, messageId: 'first' })).status).toBe(204);
    expect(await sink.results.pull()).toEqual([]);
    const [letter] = await sink.letters();
    expect(letter?.attributes).toMatchObject({
      'dlq-reason': 'rejected',
      'dlq-payload': 'request',
      'dlq-destination': 'p.i.t',
    });
    expect(JSON.parse(letter!.data.toString())).toMatchObject({ version: 1, correlationId: 'mine' });

    await mutateRow(sink.client, { ...wrong, mutations: [{ mutation: { $case: 'deleteFromRow', value: {} } }] });
    expect((await sink.pushLetter({ data: letter!.data, attributes: letter!.attributes })).status).toBe(204);
    expect(await newestCells(sink.bigtable.address, 't')).toEqual({ k: { 'f:q': shownInt64(3n) } });
    expect((await sink.results.pull()).map(resultOf)).toMatchObject([{ correlationId: 'mine' }]);
  });

  test('that a mapping made is read back without the mapping', async () => {
    const mapping = {
      rowKey: '${key}',
      writeMode: 'increment',
      families: { f: { columns: { q: { type: 'int64' } } } },
    };
    await using sink = await startRequests({ pipeline: { serializer: undefined, mapping } });
    await mutateRow(sink.client, wrong);
    expect((await sink.push({ data: '{"key":"k","q":"3"}' })).status).toBe(204);
    const [letter] = await sink.letters();
    expect(letter?.attributes['dlq-payload']).toBe('request');
    await mutateRow(sink.client, { ...wrong, mutations: [{ mutation: { $case: 'deleteFromRow', value: {} } }] });
    await sink.pushLetter({ data: letter!.data, attributes: letter!.attributes });
    expect(await newestCells(sink.bigtable.address, 't')).toEqual({ k: { 'f:q': shownInt64(3n) } });
  });

  test('under fail is redelivered and is named without its row', async () => {
    await using sink = await startRequests({ pipeline: { failurePolicy: 'fail', deadLetter: undefined } });
    await mutateRow(sink.client, wrong);
    const { status, text } = await sink.push({ data: requestData(increment(3n, 'k')) });
    expect(status).toBe(500);
    expect(text).toContain('ReadModifyWriteRow on p.i.t was refused (INVALID_ARGUMENT)');
  });
});

describe('an empty branch', () => {
  const missing = conditional({ predicate: hasQ, then: [setQ], otherwise: [] });

  test('is acknowledged by default, and counted', async () => {
    await using sink = await startRequests();
    expect((await sink.push({ data: requestData(missing) })).status).toBe(204);
    expect(sink.count('emptyBranchesSelected')).toBe(1);
  });

  test('under emptyBranchPolicy fail is redelivered although the policy would drop it', async () => {
    const pipeline = { emptyBranchPolicy: 'fail', failurePolicy: 'log-and-drop', deadLetter: undefined };
    await using sink = await startRequests({ pipeline });
    expect((await sink.push({ data: requestData(missing) })).status).toBe(500);
    expect(sink.count('messagesRedelivered', 'empty-branch')).toBe(1);
    expect(sink.count('emptyBranchesSelected')).toBe(1);
    expect(sink.count('requestsFailed')).toBe(0);
    expect(await sink.results.pull()).toEqual([]);
  });
});

describe('every mode of a mapping runs end to end', () => {
  test.each(REQUEST_CASES)('$name', async ({ mapping, before = [], records, answers, after }) => {
    await using sink = await startRequests({
      pipeline: { serializer: undefined, mapping: { rowKey: '${@messageId}', ...mapping } },
    });
    if (before.length > 0) {
      await mutateRow(sink.client, { tableName: TABLE, rowKey: Buffer.from('k'), mutations: [...before] });
    }
    for (const data of records) expect((await sink.push({ data, messageId: 'k' })).status).toBe(204);
    expect(await newestCells(sink.bigtable.address, 't')).toEqual(after);
    const results = (await sink.results.pull()).map(resultOf);
    expect(results).toHaveLength(answers.length);
    for (const [index, answer] of answers.entries()) {
      if (typeof answer === 'boolean') expect(results[index]?.outcome.conditional?.predicateMatched).toBe(answer);
      else expect(results[index]?.outcome.readModifyWrite?.cells).toHaveLength(answer.length);
    }
  });

  test('a conditional one in YAML', async () => {
    const pipeline = parse(`
      mapping:
        format: json
        rowKey: '\${order}'
        writeMode: conditional
        conditional:
          predicate:
            type: latest-cell-value-equals
            family: f
            qualifier: state
            value: { utf8: open }
          then:
            - type: set-cell
              family: f
              qualifier: state
              value: { field: to, type: string }
    `) as Record<string, unknown>;
    await using sink = await startRequests({ pipeline: { serializer: undefined, ...pipeline } });
    await mutateRow(sink.client, {
      tableName: TABLE,
      rowKey: Buffer.from('7'),
      mutations: [setCell('f', 'state', 'open')],
    });
    for (const to of ['paid', 'cancelled']) await sink.push({ data: JSON.stringify({ order: 7, to }) });
    expect(await newestCells(sink.bigtable.address, 't')).toEqual({ 7: { 'f:state': 'paid' } });
    expect(
      (await sink.results.pull()).map((message) => resultOf(message).outcome.conditional?.predicateMatched),
    ).toEqual([true, false]);
  });
});

test('SIGTERM lets requests in flight finish: answered, acknowledged, and the instance ends', async () => {
  await using sink = await startRequests();
  const slow = sink.bigtable.faults.add({
    method: 'ReadModifyWriteRow',
    times: 4,
    effect: { kind: 'delay', delayMillis: 300 },
  });
  const pushed = ['a', 'b', 'c', 'd'].map((key) => sink.push({ data: requestData(increment(1n, key)) }));
  await expect.poll(() => slow.hits).toBe(4);
  const exited = sink.terminate();
  expect((await sink.push({ data: requestData(increment(1n, 'late')) })).status).toBe(503);
  expect((await Promise.all(pushed)).map(({ status }) => status)).toEqual([204, 204, 204, 204]);
  expect(await exited).toBe(0);
  const rows = await newestCells(sink.bigtable.address, 't');
  expect(Object.keys(rows)).toEqual(['a', 'b', 'c', 'd']);
  expect(await sink.results.pull()).toHaveLength(4);
});

test('a request that may add to an aggregate is refused by a raw family, and is a dead letter', async () => {
  await using sink = await startRequests();
  const request = conditional({ predicate: hasQ, otherwise: [addToQ(1n)] });
  expect((await sink.push({ data: requestData(request) })).status).toBe(204);
  expect(await sink.letters()).toHaveLength(1);
});
