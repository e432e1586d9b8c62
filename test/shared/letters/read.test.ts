import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../shared/base/errors.ts';
import { type LetterReader, openLetter } from '../../../shared/letters/read.ts';
import { type DeadLetter, deadLetterOf } from '../../../shared/letters/write.ts';
import { failedRecord } from '../../support/failed-record.ts';
import { recordOf } from '../../support/pushed-message.ts';
import { scanLetter } from '../../support/scan-letter.ts';
import { pushedLetter, returnedLetter } from '../../support/returned-letter.ts';

const FIRST = {
  messageId: '42',
  publishTimeMicros: 1_767_225_600_123_456n,
  attributes: { origin: 'till-7', 'dlq-mine': 'kept' },
};
const IDENTITY = '0123456789abcdef0123456789abcdef';

const letterOf = (attributes: Readonly<Record<string, string>> = {}): DeadLetter => {
  const failed = failedRecord({ record: recordOf(FIRST, 3), identity: IDENTITY });
  const letter = deadLetterOf(failed, { pipeline: 'orders', payload: 'entry' }, 0);
  return { ...letter, attributes: { ...letter.attributes, ...attributes } };
};

const refusalOf = (attributes: Readonly<Record<string, string>>, reader: Partial<LetterReader> = {}): string => {
  try {
    returnedLetter(letterOf(attributes), reader);
  } catch (error) {
    if (error instanceof RedeliverError) return `${error.reason}: ${error.message}`;
  }
  return 'opened';
};

test('a letter is opened to the message that first carried its record', () => {
  const letter = letterOf();
  expect(openLetter(pushedLetter(letter), { pipeline: 'orders', acceptLettersOf: [], form: 'entry' })).toEqual({
    ...FIRST,
    data: letter.data,
    orderingKey: '',
    subscription: 'projects/p/subscriptions/letters',
    letter: {
      payload: 'entry',
      pipeline: 'orders',
      recordIndex: 3,
      destination: { project: 'p', instance: 'i', table: 't' },
      identity: IDENTITY,
    },
  });
});

test('the attribute that names the tables of a pipeline stays, where a letter has it as its own', () => {
  const { attributes } = returnedLetter(letterOf(), { destinationAttribute: 'dlq-destination' });
  expect(attributes).toEqual({ ...FIRST.attributes, 'dlq-destination': 'p.i.t' });
});

test('a whole message has no identity: its records have', () => {
  expect(returnedLetter(letterOf({ 'dlq-payload': 'message' })).letter).not.toHaveProperty('identity');
});

describe('refused, and redelivered', () => {
  test.each([
    [{ 'dlq-connector': 'spanner' }, /^letter: not a dead letter of this connector/],
    [{ 'dlq-payload': 'parcel' }, /^letter: not a dead letter of this connector/],
    [
      { 'dlq-pipeline': 'clicks' },
      /^letter: a dead letter of the pipeline "clicks", and this function serves "orders"/,
    ],
    [
      { 'dlq-payload': 'excerpt' },
      /^letter: a dead letter that holds no more than the first bytes of record 3 of message "42"/,
    ],
    [{ 'dlq-payload': 'request' }, /^letter: a dead letter that holds a request, .* become entries/],
    [{ 'dlq-original-message-id': '' }, /dlq-original-message-id .* is missing/],
    [{ 'dlq-record-index': '-1' }, /dlq-record-index .* is "-1"/],
    [{ 'dlq-original-publish-time-micros': 'yesterday' }, /dlq-original-publish-time-micros .* is "yesterday"/],
  ])('%j', (attributes, words) => {
    expect(refusalOf(attributes)).toMatch(words);
    expect(refusalOf(attributes)).toContain('Nothing is written, and the message is redelivered');
  });

  test('a letter of a scan, with what to do', () => {
    const { data, attributes } = scanLetter();
    const opening = () =>
      openLetter(pushedLetter({ data, attributes }), { pipeline: 'rows', acceptLettersOf: [], form: 'entry' });
    expect(opening).toThrow(
      /^a dead letter of a scan: .* Read the row with a new run of the scan\. Nothing is written/,
    );
  });

  test('a letter of an entry, by a sink of requests', () => {
    expect(refusalOf({}, { form: 'request' })).toMatch(/a dead letter that holds an entry, .* become requests/);
  });
});

test('letters of a pipeline that was taken over are opened, under its name', () => {
  const { letter } = returnedLetter(letterOf({ 'dlq-pipeline': 'old' }), { acceptLettersOf: ['old'] });
  expect(letter).toMatchObject({ pipeline: 'old', identity: IDENTITY });
});
