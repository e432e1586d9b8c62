import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../shared/base/errors.ts';
import { type DeadLetter, deadLetterOf } from '../../../shared/letters/write.ts';
import type { Serializer } from '../../../shared/mapping/serializer.ts';
import type { PushedMessage } from '../../../shared/model/record.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { type FramedRecord, framedRecords } from '../../../shared/records/framed-records.ts';
import { prepareWrite, type Reading } from '../../../shared/records/prepare.ts';
import { pushedMessage } from '../../support/pushed-message.ts';
import { ANY_LETTER, returnedLetter } from '../../support/returned-letter.ts';
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
  letters: ANY_LETTER,
  ...more,
});

/** The letters of a message's failures, as a dead-letter topic would hold them. */
function lettersOf(message: PushedMessage, payload: 'entry' | 'record', from: Reading = reading()): DeadLetter[] {
  return framedRecords(message, from.framing).map((record) => {
    const prepared = prepareWrite(record, from);
    const base = { record, destination: tableName('p', 'i', 'u'), summary: '', detail: 'refused' };
    const failed =
      prepared.kind === 'failed'
        ? prepared.failed
        : { ...base, reason: 'rejected' as const, ...(prepared.kind === 'write' && { entry: prepared.entry }) };
    return deadLetterOf(failed, { pipeline: 'orders', payload }, 0);
  });
}

const MESSAGE = pushedMessage({ messageId: 'first', publishTimeMicros: 5_000_123n, data: Buffer.from('a\nb\nc') });

/** The records of a letter that comes back. */
const back = (letter: DeadLetter | undefined, framing: Reading['framing'] = 'single'): readonly FramedRecord[] =>
  framedRecords(returnedLetter(letter!), framing);

describe('a dead letter that comes back', () => {
  test.each(['ndjson', 'json-array', 'single'] as const)('holds one entry, whatever the framing: %s', (framing) => {
    const [, letter] = lettersOf(MESSAGE, 'entry');
    const records = back(letter, framing);
    expect(records).toHaveLength(1);
    expect(prepareWrite(records[0]!, reading({ framing }))).toMatchObject({
      kind: 'write',
      entry: numberedEntry('b', 1),
      table: { table: 'u' },
    });
  });

  test('holds one record, read by the serializer at its first place and with its first publish time', () => {
    const [, , letter] = lettersOf(MESSAGE, 'record');
    const [record] = back(letter, 'json-array');
    expect(record).toMatchObject({ index: 2, message: { messageId: 'first', publishTimeMicros: 5_000_123n } });
    expect(record!.data.toString()).toBe('c');
    expect(prepareWrite(record!, reading())).toMatchObject({ kind: 'write', table: { table: 't' } });
  });

  test('is a whole message again where its frame was what was broken', () => {
    const message = pushedMessage({ data: Buffer.from('["x",') });
    const [letter] = lettersOf(message, 'entry', reading({ framing: 'json-array' }));
    expect(letter!.attributes).toMatchObject({ 'dlq-payload': 'message', 'dlq-reason': 'serializer' });
    expect(back(letter, 'ndjson').map(({ data }) => data.toString())).toEqual(['["x",']);
  });

  test.each(['record', 'entry'] as const)(
    'that fails again keeps message, place, time and what it holds: %s',
    (payload) => {
      const first = lettersOf(MESSAGE, payload)[1]!;
      const broken = reading({ serializer: { serialize: () => expect.unreachable('an entry is not serialized') } });
      const refusing =
        payload === 'entry' ? { ...broken, letters: { ...ANY_LETTER, mayWriteTo: () => false } } : reading();
      const data = payload === 'entry' ? first.data : Buffer.from('bad');
      const [record] = back({ ...first, data });
      const prepared = prepareWrite(record!, refusing);
      if (prepared.kind !== 'failed') return expect.unreachable('the letter is refused');
      const again = deadLetterOf(prepared.failed, { pipeline: 'orders', payload: 'record' }, 0);
      const kept = ['payload', 'original-message-id', 'record-index', 'original-publish-time-micros', 'pipeline'];
      for (const name of kept)
        expect([name, again.attributes[`dlq-${name}`]]).toEqual([name, first.attributes[`dlq-${name}`]]);
      expect(again.data).toEqual(data);
    },
  );
});

describe('a letter that holds an entry', () => {
  const entryLetter = (): FramedRecord => back(lettersOf(MESSAGE, 'entry')[0])[0]!;
  const refusal = (letters: Partial<Reading['letters']>) =>
    prepareWrite(entryLetter(), reading({ letters: { ...ANY_LETTER, ...letters } }));

  test('for a table that its pipeline could not have named is a bad letter, and keeps its table', () => {
    expect(refusal({ mayWriteTo: ({ table }) => table === 't' })).toMatchObject({
      kind: 'failed',
      failed: {
        reason: 'not-allowed',
        destination: { table: 'u' },
        detail:
          'was not written: the letter is for the table p.i.u, which the pipeline could not have named for a record',
      },
    });
  });

  test('of a family that the mapping does not declare is a bad letter', () => {
    expect(refusal({ families: new Set(['other']) })).toMatchObject({
      kind: 'failed',
      failed: { reason: 'not-allowed', detail: expect.stringContaining('the mapping does not declare') as string },
    });
    expect(refusal({ families: new Set(['f']) })).toMatchObject({ kind: 'write' });
  });
});

test('a message whose attributes are those of a letter is read as any message on the topic of the pipeline', () => {
  const [letter] = lettersOf(MESSAGE, 'entry');
  const message = pushedMessage({ data: Buffer.from('a\nb'), attributes: letter!.attributes });
  expect(framedRecords(message, 'ndjson')).toHaveLength(2);
});
