import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../shared/base/errors.ts';
import { deadLetterOf } from '../../../shared/letters/write.ts';
import type { Serializer } from '../../../shared/mapping/serializer.ts';
import type { PushedMessage } from '../../../shared/model/record.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { framedRecords } from '../../../shared/records/framed-records.ts';
import { prepareWrite, type Reading } from '../../../shared/records/prepare.ts';
import { pushedMessage } from '../../support/pushed-message.ts';
import { numberedEntry } from '../../support/simulated-bigtable.ts';

/** A line becomes the row it names; `bad` is refused. */
const serializer: Serializer = {
  serialize({ data, index }) {
    if (data.includes('bad')) throw new RecordError('line: must not be bad');
    return numberedEntry(data.toString(), index);
  },
};

const reading = (more: Partial<Reading> = {}): Reading => ({
  serializer,
  destination: { table: tableName('p', 'i', 't'), home: { project: 'p', instance: 'i' } },
  framing: 'ndjson',
  ...more,
});

/** The letters of a message's failures, as a dead-letter topic would hold them, published back at a later time. */
function published(message: PushedMessage, payload: 'entry' | 'record', from: Reading = reading()): PushedMessage[] {
  return framedRecords(message, from.framing).map((record) => {
    const prepared = prepareWrite(record, from);
    const base = { record, destination: tableName('p', 'i', 'u'), summary: '', detail: 'refused' };
    const failed =
      prepared.kind === 'failed'
        ? prepared.failed
        : { ...base, reason: 'rejected' as const, ...(prepared.kind === 'write' && { entry: prepared.entry }) };
    const { data, attributes } = deadLetterOf(failed, { pipeline: 'orders', payload }, 0);
    return pushedMessage({ messageId: 'later', publishTimeMicros: 9_000_000_000_000_000n, data, attributes });
  });
}

const MESSAGE = pushedMessage({ messageId: 'first', publishTimeMicros: 5_000_123n, data: Buffer.from('a\nb\nc') });

describe('a dead letter that is published back as it is', () => {
  test.each(['ndjson', 'json-array', 'single'] as const)('holds one entry, whatever the framing: %s', (framing) => {
    const [, letter] = published(MESSAGE, 'entry');
    const records = framedRecords(letter!, framing);
    expect(records).toHaveLength(1);
    expect(prepareWrite(records[0]!, reading({ framing }))).toMatchObject({
      kind: 'write',
      entry: numberedEntry('b', 1),
      table: { table: 'u' },
    });
  });

  test('holds one record, read by the serializer at its first place and with its first publish time', () => {
    const [, , letter] = published(MESSAGE, 'record');
    const [record] = framedRecords(letter!, 'json-array');
    expect(record).toMatchObject({ index: 2, message: { publishTimeMicros: 5_000_123n } });
    expect(record!.data.toString()).toBe('c');
    expect(prepareWrite(record!, reading())).toMatchObject({ kind: 'write', table: { table: 't' } });
  });

  test('is a whole message again where its frame was what was broken', () => {
    const message = pushedMessage({ data: Buffer.from('["x",') });
    const [letter] = published(message, 'entry', reading({ framing: 'json-array' }));
    expect(letter!.attributes).toMatchObject({ 'dlq-payload': 'message', 'dlq-reason': 'serializer' });
    expect(framedRecords(letter!, 'ndjson').map(({ data }) => data.toString())).toEqual(['["x",']);
  });

  test('that fails again keeps the message, the place and the time of its first failure', () => {
    const [letter] = published(pushedMessage({ ...MESSAGE, data: Buffer.from('bad') }), 'record');
    const [again] = published(letter!, 'record');
    const kept = ['dlq-original-message-id', 'dlq-record-index', 'dlq-original-publish-time-micros'];
    for (const name of kept) expect(again!.attributes[name]).toBe(letter!.attributes[name]);
    expect(again!.attributes['dlq-original-publish-time-micros']).toBe('5000123');
  });

  test('goes to the table it was for only where the pipeline could have sent it', () => {
    const [letter] = published(MESSAGE, 'entry');
    const elsewhere = { ...letter!, attributes: { ...letter!.attributes, 'dlq-destination': 'q.j.u' } };
    const [record] = framedRecords(elsewhere, 'single');
    expect(prepareWrite(record!, reading())).toMatchObject({ table: { project: 'p', table: 't' } });
    const routed = reading({ serializer: { ...serializer, resolve: () => undefined } });
    expect(prepareWrite(record!, routed)).toMatchObject({ table: { project: 'q', table: 'u' } });
  });

  test('of another connector is read as any message', () => {
    const attributes = { 'dlq-connector': 'spanner', 'dlq-payload': 'entry' };
    expect(framedRecords(pushedMessage({ data: Buffer.from('a\nb'), attributes }), 'ndjson')).toHaveLength(2);
  });

  test.each([
    ['dlq-record-index', '-1'],
    ['dlq-original-publish-time-micros', 'yesterday'],
    ['dlq-destination', 'a/b'],
  ])('with a nonsensical %s is read without it', (name, value) => {
    const [letter] = published(MESSAGE, 'entry');
    const [record] = framedRecords({ ...letter!, attributes: { ...letter!.attributes, [name]: value } }, 'single');
    expect(prepareWrite(record!, reading()).kind).toBe('write');
  });
});
