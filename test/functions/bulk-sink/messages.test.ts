import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PUBLISH_TIME, PUBLISH_TIME_MICROS, pushBody } from '../../support/push-body.ts';
import { type SinkHarness, startSink } from '../../support/sink-harness.ts';
import { entryBytes, entryLine, goodEntry, setCell } from '../../support/test-entry.ts';
import { completedMessage } from '../../../shared/scan/run-completed.ts';
import { MAX_RECORDS } from '../../../shared/model/record.ts';

const LINES = { module: new URL('fixtures/lines.ts', import.meta.url).pathname };

const keys = async (sink: SinkHarness): Promise<string[]> => (await sink.rows()).map(({ key }) => key);

describe('a body that is no push', () => {
  let sink: SinkHarness;
  beforeAll(async () => {
    sink = await startSink({ deadLetters: 'topic' });
  });
  afterAll(async () => {
    expect(sink.requests).toEqual([]);
    expect(await sink.letters()).toEqual([]);
    await sink[Symbol.asyncDispose]();
  });

  const message = { messageId: 'm', publishTime: PUBLISH_TIME, data: '' };
  test.each([
    ['an empty object', {}],
    ['an array', []],
    ['no message', { message: null }],
    ['an array for a message', { message: [] }],
    ['no message id', { message: { ...message, messageId: undefined } }],
    ['an empty message id', { message: { ...message, messageId: '' } }],
    ['a number for a message id', { message: { ...message, messageId: 7 } }],
    ['no publish time', { message: { ...message, publishTime: undefined } }],
    ['a publish time that is none', { message: { ...message, publishTime: 'yesterday' } }],
    ['a publish time in the thirteenth month', { message: { ...message, publishTime: '2026-13-01T00:00:00Z' } }],
    ['data that is no text', { message: { ...message, data: 7 } }],
    ['attributes that are no object', { message: { ...message, attributes: 'a' } }],
    ['an attribute that is no text', { message: { ...message, attributes: { a: 1 } } }],
    ['an event without data', { specversion: '1.0', id: 'e', type: 't', source: 's' }],
  ])('%s is not acknowledged, reaches nothing, and is counted and named in one error line', async (_, body) => {
    const before = sink.count('messagesRedelivered', 'malformed-push');
    const { status, text } = await sink.post(JSON.stringify(body));
    expect(status).toBe(400);
    expect(text).toMatch(/^not a Pub\/Sub push: .* must /);
    expect(sink.count('messagesRedelivered', 'malformed-push')).toBe(before + 1);
    expect(sink.logs.filter(({ severity }) => severity === 'ERROR')).toHaveLength(before + 1);
  });

  test.each([
    ['half a JSON document', '{"message":', 'application/json', 'the body must be JSON'],
    ['plain text', 'hello', 'text/plain', 'the body must be JSON'],
    ['bytes', Buffer.from([0, 255]), 'application/octet-stream', 'the body must be UTF-8'],
    ['nothing', '', 'application/json', 'the body must be JSON'],
  ])('%s is not acknowledged, and neither answer nor log holds anything of it', async (_, body, contentType, rule) => {
    const lines = sink.logs.length;
    const { status, text } = await sink.post(body, contentType);
    expect([status, text]).toEqual([400, expect.stringContaining(`not a Pub/Sub push: ${rule}.`)]);
    expect(JSON.stringify(sink.logs.slice(lines))).not.toMatch(/"message\\":|hello/);
  });
});

describe('a message', () => {
  test.each([
    ['wrapped', (wrapped: object) => wrapped],
    ['as the event that Eventarc delivers', (wrapped: object) => ({ specversion: '1.0', id: 'e', data: wrapped })],
  ])('%s is written', async (_, bodyOf) => {
    await using sink = await startSink();
    const body = JSON.stringify(bodyOf(pushBody({ data: goodEntry('row') })));
    expect((await sink.post(body)).status).toBe(204);
    expect(await keys(sink)).toEqual(['row']);
  });

  test('with the older spelling of its fields alone is written', async () => {
    await using sink = await startSink();
    const data = goodEntry('row').toString('base64');
    const body = JSON.stringify({ message: { data, message_id: 'm', publish_time: PUBLISH_TIME } });
    expect((await sink.post(body)).status).toBe(204);
    expect(await keys(sink)).toEqual(['row']);
  });

  test('of attributes alone is a record, which a serializer may make a row of', async () => {
    await using sink = await startSink({ pipeline: { serializer: LINES } });
    expect((await sink.push({ attributes: { key: 'row' } })).status).toBe(204);
    expect(await sink.rows()).toEqual([{ key: 'row', cells: [`f:q@${PUBLISH_TIME_MICROS}=of an attribute`] }]);
  });

  test('of attributes alone that is no entry is dead-lettered with its attributes', async () => {
    await using sink = await startSink({ deadLetters: 'topic' });
    expect((await sink.push({ messageId: 'm', attributes: { origin: 'here' } })).status).toBe(204);
    const [letter] = await sink.letters();
    expect(letter?.data).toHaveLength(0);
    expect(letter?.attributes).toMatchObject({
      origin: 'here',
      'dlq-reason': 'serializer',
      'dlq-payload': 'record',
      'dlq-original-message-id': 'm',
    });
  });

  test('that tells the end of a scan is acknowledged, and holds no record', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' }, deadLetters: 'topic' });
    const run = { id: 'r', state: 'done', startedAt: 0, dead: [], isTold: false } as const;
    const { data, attributes } = completedMessage('exports', run);
    expect((await sink.push({ data, attributes: { ...attributes } })).status).toBe(204);
    expect(await sink.letters()).toEqual([]);
    expect(sink.requests).toEqual([]);
    const { kind } = attributes;
    expect((await sink.push({ data, attributes: { kind: kind ?? '' } })).status).toBe(204);
    expect(await sink.letters()).toHaveLength(1);
  });

  test('that is empty is one bad record by itself, and none where it holds lines', async () => {
    await using single = await startSink({ deadLetters: 'topic' });
    expect((await single.push({})).status).toBe(204);
    expect(await single.letters()).toHaveLength(1);

    await using ndjson = await startSink({ pipeline: { framing: 'ndjson' }, deadLetters: 'topic' });
    expect((await ndjson.push({})).status).toBe(204);
    expect((await ndjson.push({ data: '\n \r\n' })).status).toBe(204);
    expect(await ndjson.letters()).toEqual([]);
    expect(ndjson.requests).toEqual([]);
  });

  test('takes its cells’ timestamps from the publish time, floored to milliseconds, so that a redelivery overwrites', async () => {
    await using sink = await startSink({ pipeline: { serializer: LINES } });
    const message = { data: '{"key":"row","value":"v"}', messageId: 'm', publishTime: '2026-01-02T03:04:05.678999Z' };
    await sink.push(message);
    await sink.push(message);
    expect(await sink.rows()).toEqual([{ key: 'row', cells: ['f:q@1767323045678000=v'] }]);
  });
});

describe('records', () => {
  test('an entry may be proto bytes or proto JSON, and either is the same row', async () => {
    await using sink = await startSink();
    expect((await sink.push({ data: goodEntry('proto') })).status).toBe(204);
    expect((await sink.push({ data: entryLine('json', 'v') })).status).toBe(204);
    expect(await sink.rows()).toEqual([
      { key: 'json', cells: ['f:q@1000=v'] },
      { key: 'proto', cells: ['f:q@1000=v'] },
    ]);
  });

  test.each([
    ['ndjson', (lines: string[]) => lines.join('\n')],
    ['json-array', (lines: string[]) => `[${lines.join(', ')}]`],
  ])(
    'in one %s message: good ones applied, skipped ones skipped, bad ones dead-lettered by their index',
    async (framing, frame) => {
      await using sink = await startSink({ pipeline: { framing, serializer: LINES }, deadLetters: 'topic' });
      const lines = [
        '{"key":"a","value":"1"}',
        '{"key":"b","skip":true}',
        '{"no key":1}',
        '{"key":"c","value":"3"}',
        '{"key":""}',
        '{"key":"d","skip":true}',
        '{"key":"e","value":"5"}',
      ];
      expect((await sink.push({ data: frame(lines), messageId: 'm' })).status).toBe(204);
      expect(await keys(sink)).toEqual(['a', 'c', 'e']);
      expect(sink.count('recordsSkipped')).toBe(2);
      expect(sink.count('numRecordsSendErrors')).toBe(2);
      const letters = (await sink.letters()).map(({ attributes }) => [
        attributes['dlq-record-index'],
        attributes['dlq-reason'],
        attributes['dlq-original-message-id'],
      ]);
      expect(letters.toSorted()).toEqual([
        ['2', 'serializer', 'm'],
        ['4', 'rejected', 'm'],
      ]);
    },
  );

  test('a message that is not framed as the pipeline says is one bad record', async () => {
    await using sink = await startSink({
      pipeline: { framing: 'json-array', serializer: LINES },
      deadLetters: 'topic',
    });
    expect((await sink.push({ data: '{"key":"a"}' })).status).toBe(204);
    const [letter, ...more] = await sink.letters();
    expect([letter?.data.toString(), letter?.attributes['dlq-reason']]).toEqual(['{"key":"a"}', 'serializer']);
    expect(more).toEqual([]);
  });

  test('a message of more records than one may hold is one bad record, whole', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson', serializer: LINES }, deadLetters: 'topic' });
    const data = '{}\n'.repeat(MAX_RECORDS + 1);
    expect((await sink.push({ data })).status).toBe(204);
    const [letter, ...more] = await sink.letters();
    expect(letter?.data.toString()).toBe(data);
    expect(letter?.attributes).toMatchObject({
      'dlq-payload': 'message',
      'dlq-error': 'could not be serialized: message: must hold at most 100000 records, got more',
    });
    expect(more).toEqual([]);
  });

  test('what a user’s serializer says of a bad record is in the dead letter and not in the log', async () => {
    await using sink = await startSink({ pipeline: { serializer: LINES }, deadLetters: 'topic' });
    await sink.push({ data: 'my secret' });
    expect((await sink.letters())[0]?.attributes['dlq-error']).toContain('my secret');
    expect(JSON.stringify(sink.logs)).not.toContain('my secret');
  });
});

describe('a message of 10 MB', () => {
  const TEN_MB = 9_900_000;

  test('as one record is one cell', async () => {
    await using sink = await startSink();
    expect((await sink.push({ data: goodEntry('row', Buffer.alloc(TEN_MB, 'x')) })).status).toBe(204);
    const [row] = await sink.rows();
    expect(row?.cells[0]).toHaveLength('f:q@1000='.length + TEN_MB);
  });

  test('that is a bad record fits its dead letter', async () => {
    await using sink = await startSink({ deadLetters: 'topic' });
    const data = entryBytes('row', setCell(Buffer.alloc(TEN_MB, 'x'), 1001n));
    expect((await sink.push({ data })).status).toBe(204);
    const [letter] = await sink.letters();
    expect(letter?.data.equals(data)).toBe(true);
  });

  test('of lines is as many rows', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson', serializer: LINES } });
    const value = 'x'.repeat(960);
    const lines = Array.from({ length: 10_000 }, (_, index) => JSON.stringify({ key: `row-${index}`, value }));
    expect((await sink.push({ data: lines.join('\n') })).status).toBe(204);
    expect(sink.bigtable.tables().map(({ rows }) => rows)).toEqual([10_000]);
    expect(sink.count('recordsApplied')).toBe(10_000);
  });
});
