import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LETTER_NAMES } from '../../../shared/letters/attributes.ts';
import { deadLetterOf, MAX_MESSAGE_BYTES, truncateUtf8 } from '../../../shared/letters/write.ts';
import { contextOf } from '../../../shared/mapping/serializer.ts';
import { entrySerializer } from '../../../shared/mapping/entry-serializer.ts';
import { encodeEntry } from '../../../shared/mapping/rows/entry-wire.ts';
import type { RowEntry } from '../../../shared/model/mutation.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { anyEntry } from '../../support/arbitraries.ts';
import { failedRecord } from '../../support/failed-record.ts';
import { recordOf } from '../../support/pushed-message.ts';
import { returnedLetter } from '../../support/returned-letter.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const asEntry = { pipeline: 'orders', payload: 'entry' } as const;
const asRecord = { pipeline: 'orders', payload: 'record' } as const;

/** An entry whose bytes are more than a message may hold. */
const tooLarge: RowEntry = {
  rowKey: Buffer.from('k'),
  mutations: [
    {
      kind: 'setCell',
      family: 'f',
      qualifier: Buffer.alloc(0),
      timestampMicros: 0n,
      value: Buffer.alloc(MAX_MESSAGE_BYTES),
    },
  ],
};

describe('attributes', () => {
  test('a letter says what failed, where, why, when and what it carries, beside what the message said', () => {
    const failed = failedRecord({
      record: recordOf(
        { messageId: '42', data: Buffer.from('data'), attributes: { origin: 'till-7', unit: 'EUR' } },
        3,
      ),
      destination: tableName('example.com:p', 'i', 't'),
      detail: 'the words of the service',
    });
    expect(deadLetterOf(failed, asEntry, NOW).attributes).toEqual({
      origin: 'till-7',
      unit: 'EUR',
      'dlq-connector': 'bigtable',
      'dlq-pipeline': 'orders',
      'dlq-destination': 'example.com:p.i.t',
      'dlq-reason': 'rejected',
      'dlq-error': 'the words of the service',
      'dlq-timestamp': '2026-01-02T03:04:05.678Z',
      'dlq-payload': 'entry',
      'dlq-original-message-id': '42',
      'dlq-record-index': '3',
      'dlq-original-publish-time-micros': '1767225600000000',
    });
  });

  test('a letter that came back and fails again names its first message and record, and its last failure', () => {
    const first = deadLetterOf(
      failedRecord({ record: recordOf({ messageId: '42', attributes: { origin: 'till-7' } }, 3), detail: 'first' }),
      asEntry,
      NOW,
    );
    const message = returnedLetter(first);
    const second = deadLetterOf(
      failedRecord({ record: { message, index: 3, data: message.data }, detail: 'second' }),
      { ...asEntry, pipeline: 'sales' },
      NOW + 1000,
    );
    expect(second.attributes).toEqual({
      ...first.attributes,
      'dlq-pipeline': 'sales',
      'dlq-error': 'second',
      'dlq-timestamp': '2026-01-02T03:04:06.678Z',
    });
    expect(second.attributes).toMatchObject({ 'dlq-original-message-id': '42', 'dlq-record-index': '3' });
  });

  test("a message that carries a letter's attributes as its own becomes a letter in its own right", () => {
    const foreign = { 'dlq-original-message-id': '1', 'dlq-record-index': '9', 'dlq-identity': '0'.repeat(32) };
    const { attributes } = deadLetterOf(
      failedRecord({ record: recordOf({ messageId: '42', attributes: { ...foreign, 'dlq-mine': 'kept' } }) }),
      asEntry,
      NOW,
    );
    expect(attributes).toMatchObject({
      'dlq-original-message-id': '42',
      'dlq-record-index': '0',
      'dlq-mine': 'kept',
    });
    expect(attributes).not.toHaveProperty('dlq-identity');
  });

  test('attributes that Pub/Sub keeps to itself are not published again', () => {
    const failed = failedRecord({}, { attributes: { googclient_schemaname: 's', kept: 'k' } });
    const { attributes } = deadLetterOf(failed, asEntry, NOW);
    expect(attributes).toHaveProperty('kept', 'k');
    expect(attributes).not.toHaveProperty('googclient_schemaname');
    expect(attributes).not.toHaveProperty('dlq-attributes-dropped');
  });

  test('as many attributes of the message are kept as Pub/Sub takes, and the others are counted', () => {
    const attributes = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`name-${index}`, `${index}`]));
    const letter = deadLetterOf(failedRecord({}, { attributes }), asEntry, NOW);
    expect(Object.keys(letter.attributes)).toHaveLength(100);
    expect(letter.attributes['dlq-attributes-dropped']).toBe('11');
    expect(letter.attributes['name-0']).toBe('0');
  });

  test('whatever the message was, a letter has no more than 100 attributes, its own are all there, and none of the others is changed', () => {
    const anyAttributes = fc
      .tuple(fc.nat(100), fc.constantFrom('a', 'dlq-', 'goog', 'dlq-original-message-id'))
      .map(([count, prefix]) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'v'])),
      );
    fc.assert(
      fc.property(anyAttributes, fc.constantFrom(asEntry, asRecord), (attributes, options) => {
        const letter = deadLetterOf(failedRecord({}, { attributes }), options, NOW).attributes;
        expect(Object.keys(letter).length).toBeLessThanOrEqual(100);
        for (const name of [
          'connector',
          'pipeline',
          'destination',
          'reason',
          'error',
          'timestamp',
          'payload',
          'original-message-id',
          'record-index',
        ]) {
          expect(letter).toHaveProperty([`dlq-${name}`]);
        }
        const kept = Object.keys(letter).filter((name) => !LETTER_NAMES.has(name));
        for (const name of kept) expect(letter[name]).toBe(attributes[name]);
        const own = Object.keys(attributes).filter((name) => !LETTER_NAMES.has(name) && !name.startsWith('goog'));
        expect(Number(letter['dlq-attributes-dropped'] ?? 0)).toBe(own.length - kept.length);
      }),
      { seed: 16 },
    );
  });

  test('attributes that no longer fit beside the data are left out and counted', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 90 }, (_, index) => [`name-${index}`, 'x'.repeat(1024)]),
    );
    const record = recordOf({ data: Buffer.alloc(MAX_MESSAGE_BYTES - 50_000), attributes });
    const letter = deadLetterOf(failedRecord({ record }), asRecord, NOW);
    expect(letter.attributes['dlq-attributes-dropped']).toBe('90');
    expect(letter.attributes).not.toHaveProperty('name-0');
    expect(letter.attributes['dlq-reason']).toBe('rejected');
  });

  test('every value fits in an attribute, whatever the error and the table are called', () => {
    const long = 'é'.repeat(4000);
    const letter = deadLetterOf(
      failedRecord({ detail: long, destination: tableName('p', 'i', long) }),
      { ...asEntry, pipeline: long },
      NOW,
    );
    for (const value of Object.values(letter.attributes)) expect(Buffer.byteLength(value)).toBeLessThanOrEqual(1024);
  });
});

describe('payload', () => {
  test('an entry is carried as its bytes, from which the serializer makes the same entry', () => {
    fc.assert(
      fc.property(anyEntry, (entry) => {
        const { data, attributes } = deadLetterOf(failedRecord({ entry }), asEntry, NOW);
        expect(attributes['dlq-payload']).toBe('entry');
        const record = recordOf({ data });
        expect(entrySerializer.serialize(record, contextOf(record))).toEqual(entry);
      }),
      { seed: 17, numRuns: 30 },
    );
  });

  test('a record is carried as it was published where that was asked for', () => {
    const failed = failedRecord();
    const { data, attributes } = deadLetterOf(failed, asRecord, NOW);
    expect(failed.record.data?.equals(data)).toBe(true);
    expect(attributes['dlq-payload']).toBe('record');
  });

  test('a record without an entry is carried as the record', () => {
    const { entry, ...serializerFailure } = failedRecord({ reason: 'serializer' });
    expect(entry).toBeDefined();
    const { data, attributes } = deadLetterOf(serializerFailure, asEntry, NOW);
    expect(serializerFailure.record.data?.equals(data)).toBe(true);
    expect(attributes).toMatchObject({ 'dlq-payload': 'record', 'dlq-reason': 'serializer' });
  });

  test('only the failed record of a message of many is carried', () => {
    const { record } = failedRecord({}, { data: Buffer.from('[1,2]') });
    const failed = failedRecord({ record: { ...record, index: 1, data: Buffer.from('2') } });
    expect(deadLetterOf(failed, asRecord, NOW).data.toString()).toBe('2');
  });

  test('an entry that fits in no message gives way to the record, which came in one', () => {
    expect(encodeEntry(tooLarge).length).toBeGreaterThan(MAX_MESSAGE_BYTES);
    const failed = failedRecord({ entry: tooLarge });
    const { data, attributes } = deadLetterOf(failed, asEntry, NOW);
    expect(failed.record.data?.equals(data)).toBe(true);
    expect(attributes['dlq-payload']).toBe('record');
  });

  test('a record that was staged is carried as its entry, whatever was asked for', () => {
    const { message, index } = recordOf({ messageId: '42' }, 3);
    const failed = failedRecord({ record: { message, index }, reason: 'beyond-horizon' });
    const { data, attributes } = deadLetterOf(failed, asRecord, NOW);
    expect(data).toEqual(encodeEntry(failed.entry ?? tooLarge));
    expect(attributes).toMatchObject({
      'dlq-payload': 'entry',
      'dlq-reason': 'beyond-horizon',
      'dlq-original-message-id': '42',
      'dlq-record-index': '3',
    });
  });

  test('a record that fits in no letter is carried as its first bytes, with its size and a digest of all of it', () => {
    const whole = Buffer.alloc(9_999_900, 'x');
    const { data, attributes } = deadLetterOf(failedRecord({ record: recordOf({ data: whole }) }), asRecord, NOW);
    expect(data.equals(whole.subarray(0, MAX_MESSAGE_BYTES))).toBe(true);
    expect(attributes).toMatchObject({
      'dlq-payload': 'excerpt',
      'dlq-original-bytes': '9999900',
      'dlq-original-digest': createHash('sha256').update(whole).digest('hex'),
    });
  });

  test('of a record that was staged and whose entry fits in no message the first bytes of the entry are carried', () => {
    const { message, index } = recordOf({ messageId: '42' }, 3);
    const failed = failedRecord({ record: { message, index }, entry: tooLarge });
    const { data, attributes } = deadLetterOf(failed, asEntry, NOW);
    const whole = encodeEntry(tooLarge);
    expect(data.equals(whole.subarray(0, MAX_MESSAGE_BYTES))).toBe(true);
    expect(attributes).toMatchObject({
      'dlq-payload': 'excerpt',
      'dlq-original-bytes': String(whole.length),
      'dlq-original-message-id': '42',
      'dlq-record-index': '3',
    });
  });

  test('what Pub/Sub takes in no attribute is cut or left out, whoever delivered the message', () => {
    const attributes = { '': 'no name', kept: 'k', long: 'x'.repeat(1025), ['n'.repeat(257)]: 'long name' };
    const record = recordOf({ messageId: 'i'.repeat(1_000_000), attributes });
    const letter = deadLetterOf(failedRecord({ record }), asRecord, NOW).attributes;
    expect(letter['dlq-original-message-id']).toHaveLength(1024);
    expect(letter['dlq-attributes-dropped']).toBe('3');
    expect(Object.keys(letter).filter((name) => !LETTER_NAMES.has(name))).toEqual(['kept']);
  });

  test('a letter is never larger than Pub/Sub takes, for any record', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`name-${index}`, 'x'.repeat(650)]),
    );
    for (const size of [0, 9_000_000, 9_900_000, 9_930_000, 9_934_000, 9_935_999, 9_990_000, 9_999_999]) {
      const letter = deadLetterOf(
        failedRecord({ record: recordOf({ data: Buffer.alloc(size), attributes }) }),
        asRecord,
        NOW,
      );
      const total = Object.entries(letter.attributes).reduce(
        (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
        letter.data.length,
      );
      expect(total).toBeLessThanOrEqual(10_000_000);
    }
  });
});

describe('cutting a text to the size of an attribute', () => {
  test.each([
    ['empty', '', ''],
    ['an exact fit', 'a'.repeat(1024), 'a'.repeat(1024)],
    ['an exact fit of two-byte characters', 'é'.repeat(512), 'é'.repeat(512)],
    ['one byte too many', 'a'.repeat(1025), `${'a'.repeat(1021)}...`],
    ['two-byte characters', 'é'.repeat(513), `${'é'.repeat(510)}...`],
    ['four-byte characters', '😀'.repeat(257), `${'😀'.repeat(255)}...`],
  ])('%s', (_name, text, expected) => {
    expect(truncateUtf8(text)).toBe(expected);
  });

  test('the result fits, is whole characters of the beginning, and says by its end that it was cut', () => {
    const anyText = fc
      .tuple(
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.array(fc.constantFrom('a', 'é', '€', '😀', '\u0301')),
        fc.nat(1100),
      )
      .map(([start, unit, count]) => start + (unit.join('') || 'x').repeat(count));
    fc.assert(
      fc.property(anyText, (text) => {
        const cut = truncateUtf8(text);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024);
        if (Buffer.byteLength(text) <= 1024) {
          expect(cut).toBe(text);
          return;
        }
        expect(cut.endsWith('...')).toBe(true);
        const kept = cut.slice(0, -3);
        expect(text.startsWith(kept)).toBe(true);
        expect(kept).not.toContain('\uFFFD');
        // No more was cut than one character can take.
        expect(Buffer.byteLength(cut)).toBeGreaterThan(1024 - 4);
      }),
      { seed: 18, numRuns: 300 },
    );
  });
});
