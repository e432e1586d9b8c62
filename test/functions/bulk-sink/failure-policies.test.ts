import { describe, expect, test } from 'vitest';
import { ensureTables } from '../../../infra/local/cloud/table-resources.ts';
import { unary } from '../../../infra/local/cloud/unary.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { DEAD_LETTER_TOPIC } from '../../support/dead-letters.ts';
import { type SinkHarness, startSink, TABLE } from '../../support/sink-harness.ts';
import { badEntry, badLine, entryBytes, entryLine, goodEntry, setCell } from '../../support/test-entry.ts';

const T = tableName('p', 'i', 't');

const keys = async (sink: SinkHarness): Promise<string[]> => (await sink.rows()).map(({ key }) => key);

describe('fail', () => {
  test('is the default: a bad record is redelivered and named, and its batch-mates are applied', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' } });
    const { status, text } = await sink.push({ data: [entryLine('a', 'v'), badLine('b'), badLine('c')].join('\n') });
    expect(status).toBe(500);
    expect(text).toContain('2 records for p.i.t cannot be written');
    expect(text).toContain('INVALID_ARGUMENT');
    expect(text).toContain('failurePolicy is fail');
    expect(await keys(sink)).toEqual(['a']);
    expect(sink.count('messagesRedelivered', 'failure-policy')).toBe(1);
  });

  test('is not bounded by maxConsecutiveRejections, because nothing is dropped', async () => {
    await using sink = await startSink({ pipeline: { writerOptions: { maxConsecutiveRejections: 1 } } });
    expect((await sink.push({ data: badEntry('a') })).status).toBe(500);
    expect((await sink.push({ data: badEntry('a') })).status).toBe(500);
    expect((await sink.push({ data: goodEntry('b') })).status).toBe(204);
  });
});

describe('log-and-drop', () => {
  test('acknowledges, and logs what was dropped without any of the row', async () => {
    await using sink = await startSink({ pipeline: { failurePolicy: 'log-and-drop' } });
    const data = entryBytes('secret-row', setCell('secret-value', 1001n));
    expect((await sink.push({ data, messageId: 'm' })).status).toBe(204);
    expect(sink.count('recordsDropped')).toBe(1);
    expect(sink.logs.filter(({ severity }) => severity === 'WARNING')).toMatchObject([
      { reason: 'rejected', destination: 'p.i.t', messageId: 'm', recordIndex: 0, bytes: data.length },
    ]);
    expect(JSON.stringify(sink.logs)).not.toContain('secret');
  });
});

describe('dead-letter', () => {
  test('publishes the entry with the attributes of the original, then acknowledges', async () => {
    await using sink = await startSink({ deadLetters: 'topic' });
    const before = Date.now();
    expect((await sink.push({ data: badEntry('row'), attributes: { a: '1' }, messageId: 'm' })).status).toBe(204);
    const [letter, ...more] = await sink.letters();
    expect(more).toEqual([]);
    expect(letter?.data.equals(badEntry('row'))).toBe(true);
    expect(letter?.attributes).toEqual({
      a: '1',
      'dlq-connector': 'bigtable',
      'dlq-pipeline': 'sink',
      'dlq-destination': 'p.i.t',
      'dlq-reason': 'rejected',
      'dlq-error': expect.stringContaining('INVALID_ARGUMENT') as string,
      'dlq-timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      'dlq-payload': 'entry',
      'dlq-original-message-id': 'm',
      'dlq-record-index': '0',
      'dlq-original-publish-time-micros': expect.stringMatching(/^\d{16}$/) as string,
    });
    expect(Date.parse(letter?.attributes['dlq-timestamp'] ?? '')).toBeGreaterThanOrEqual(before);
    expect(sink.count('deadLettersPublished')).toBe(1);
  });

  test('a letter that comes back after the cause is fixed is applied', async () => {
    await using sink = await startSink({ families: null, deadLetters: 'topic' });
    // A family that takes additions only refuses a plain cell.
    await ensureTables(sink.bigtable.address, [{ name: T, families: { f: { aggregate: 'sum' } } }]);
    const data = goodEntry('row');
    expect((await sink.push({ data, attributes: { a: '1' }, messageId: 'first' })).status).toBe(204);
    const [letter] = await sink.letters();
    expect(letter?.attributes['dlq-error']).toContain('aggregate');

    await unary(sink.client.admin.deleteTable.bind(sink.client.admin), { name: TABLE });
    await sink.createTable('t', ['f']);
    expect((await sink.pushLetter({ data: letter?.data ?? '', attributes: letter?.attributes ?? {} })).status).toBe(
      204,
    );
    expect(await sink.rows()).toEqual([{ key: 'row', cells: ['f:q@1000=v'] }]);
    expect(await sink.letters()).toEqual([]);
  });

  test('a letter that comes back too early is filed again, and still names its first message', async () => {
    await using sink = await startSink({ deadLetters: 'topic' });
    await sink.push({ data: badEntry('row'), attributes: { a: '1' }, messageId: 'first' });
    const [letter] = await sink.letters();
    await sink.pushLetter({ data: letter?.data ?? '', attributes: letter?.attributes ?? {}, messageId: 'second' });
    const [again] = await sink.letters();
    expect(again?.data.equals(badEntry('row'))).toBe(true);
    expect(again?.attributes).toMatchObject({ a: '1', 'dlq-original-message-id': 'first' });
  });

  test('a topic that does not exist loses nothing: redelivered, and published once it is there', async () => {
    await using sink = await startSink({ deadLetters: 'no-topic' });
    const { status, text } = await sink.push({ data: badEntry('row'), messageId: 'm' });
    expect(status).toBe(503);
    expect(text).toContain(`1 of 1 dead letters were not confirmed by ${DEAD_LETTER_TOPIC}`);
    expect(sink.count('messagesRedelivered', 'dead-letter-unconfirmed')).toBe(1);

    await sink.deadLetters?.createTopic();
    expect((await sink.push({ data: badEntry('row'), messageId: 'm' })).status).toBe(204);
    expect((await sink.letters()).map(({ attributes }) => attributes['dlq-original-message-id'])).toEqual(['m']);
  });

  test('a publish that is not confirmed within flushTimeout is not taken for done', async () => {
    await using sink = await startSink({
      pipeline: { deadLetter: { topic: DEAD_LETTER_TOPIC, flushTimeout: '200ms' } },
      deadLetters: 'topic',
    });
    const slow = sink.deadLetters?.pubsub.faults.add({
      method: 'Publish',
      times: Infinity,
      effect: { kind: 'delay', delayMillis: 600 },
    });
    const { status, text } = await sink.push({ data: badEntry('row') });
    expect(status).toBe(503);
    expect(text).toContain('flushTimeout of 200 ms was used up');
    slow?.remove();
    expect((await sink.push({ data: badEntry('row') })).status).toBe(204);
    // The unconfirmed one may have arrived as well: a letter twice is allowed, a letter lost is not.
    expect((await sink.letters()).length).toBeGreaterThanOrEqual(1);
  });

  test('payload: record publishes the record as it came', async () => {
    await using sink = await startSink({
      pipeline: { framing: 'ndjson', deadLetter: { topic: DEAD_LETTER_TOPIC, payload: 'record' } },
      deadLetters: 'topic',
    });
    await sink.push({ data: [entryLine('a', 'v'), badLine('b')].join('\n') });
    const [letter] = await sink.letters();
    expect(letter?.data.toString()).toBe(badLine('b'));
    expect(letter?.attributes['dlq-payload']).toBe('record');
  });
});
