import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecordError } from '../../../shared/base/errors.ts';
import { entrySerializer } from '../../../shared/mapping/entry-serializer.ts';
import { encodeEntry } from '../../../shared/mapping/rows/entry-wire.ts';
import { contextOf } from '../../../shared/mapping/serializer.ts';
import type { RowEntry } from '../../../shared/model/mutation.ts';
import { anyEntry } from '../../support/arbitraries.ts';
import { entryJsonText } from '../../support/entry-json.ts';
import { recordOf } from '../../support/pushed-message.ts';

function serialize(data: Buffer, publishTimeMicros = 0n) {
  const record = recordOf({ data, publishTimeMicros });
  return entrySerializer.serialize(record, contextOf(record));
}

test('the proto bytes and the JSON text of an entry are told apart and read as the same entry', () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      const text = entryJsonText(entry, { names: 'camelCase', alphabet: 'base64' });
      expect(serialize(encodeEntry(entry))).toEqual(entry);
      expect(serialize(Buffer.from(text))).toEqual(entry);
    }),
    { seed: 15, numRuns: 100 },
  );
});

test.each([
  ['nothing', '', 'entry.mutations: must hold at least one mutation'],
  ['half an object', '{"rowKey":"planted', 'entry: starts as JSON and is not JSON'],
  ['two objects', '{} {"planted":1}', 'entry: starts as JSON and is not JSON'],
  [
    'a list of entries',
    '[{"rowKey":"planted"}]',
    'entry: must be the bytes of a google.bigtable.v2.MutateRowsRequest.Entry',
  ],
])('%s is refused with the rule and without the record', (_name, data, message) => {
  expect(() => serialize(Buffer.from(data))).toThrow(new RecordError(message));
});

test('a cell without a time takes the publish time in JSON, and the epoch in bytes, where no time is the time 0', () => {
  const entry: RowEntry = {
    rowKey: Buffer.from('k'),
    mutations: [
      { kind: 'setCell', family: 'f', qualifier: Buffer.from('q'), timestampMicros: 0n, value: Buffer.from('v') },
    ],
  };
  const text = '{"rowKey":"aw==","mutations":[{"setCell":{"familyName":"f","columnQualifier":"cQ==","value":"dg=="}}]}';
  expect(serialize(Buffer.from(text), 1_772_323_200_000_999n)).toEqual({
    ...entry,
    mutations: [{ ...entry.mutations[0], timestampMicros: 1_772_323_200_000_000n }],
  });
  expect(serialize(encodeEntry(entry), 1_772_323_200_000_999n)).toEqual(entry);
});

test.each([
  ['a member twice', '{"rowKey":"aw==","rowKey":"aWQ=","mutations":[]}', 'rowKey: must be there once, got two members of that name'],
  ['a member of a mutation twice', '{"rowKey":"aw==","mutations":[{"deleteFromFamily":{"familyName":"f","familyName":"g"}}]}', 'mutations.0.deleteFromFamily.familyName: must be there once, got two members of that name'],
  ['a byte order mark', '\uFEFF{"rowKey":"aw=="}', 'entry: must be proto bytes or JSON in UTF-8, got a byte order mark before the JSON'],
  ['UTF-16', Buffer.from('{"rowKey":"aw=="}', 'utf16le'), 'entry: must be proto bytes or JSON in UTF-8, got UTF-16'],
  ['UTF-16 with its mark', Buffer.from('\uFEFF{"rowKey":"aw=="}', 'utf16le'), 'entry: must be proto bytes or JSON in UTF-8, got UTF-16'],
  ['bytes with a zero that are no entry', Buffer.of(0x0a, 0x00), 'entry.mutations: must hold at least one mutation'],
])('%s is refused by what was seen', (_name, data, message) => {
  const refused = (): unknown => serialize(Buffer.from(data as Buffer));
  expect(refused).toThrow(RecordError);
  expect(refused).toThrow(message);
}); // prettier-ignore

test('JSON that is not UTF-8 is refused, for a replacement character would name another family', () => {
  const data = Buffer.from('{"rowKey":"aw==","mutations":[{"deleteFromFamily":{"familyName":"\u00e6"}}]}', 'latin1');
  expect(() => serialize(data)).toThrow(new RecordError('entry: must be JSON in UTF-8, got other bytes'));
});

test('a dead letter is read as the entry it carries, so it can be published back as it is', () => {
  const entry = { rowKey: Buffer.from('k'), mutations: [{ kind: 'deleteFromFamily' as const, family: 'f' }] };
  const record = recordOf({ data: encodeEntry(entry), attributes: { 'dlq-payload': 'entry' } });
  expect(entrySerializer.serialize(record, contextOf(record))).toEqual(entry);
});

test('the time that a record without one takes is the publish time, floored to milliseconds', () => {
  expect(contextOf(recordOf({ publishTimeMicros: 1_767_225_600_123_999n }))).toEqual({
    publishTimeMicros: 1_767_225_600_123_000n,
  });
});
