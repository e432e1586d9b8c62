import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import { decodeEntry, encodeEntry, toWireMutation } from '../../../../shared/mapping/rows/entry-wire.ts';
import { MutateRowsRequest_Entry as WireEntry } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Mutation as WireMutation } from '../../../../shared/proto/google/bigtable/v2/data.ts';
import { anyBytes, anyEntry } from '../../../support/arbitraries.ts';

test('an entry reads back from its bytes as it was', () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      expect(decodeEntry(encodeEntry(entry))).toEqual(entry);
    }),
    { seed: 10, numRuns: 200 },
  );
});

test('the bytes are those of the proto definition', () => {
  const bytes = encodeEntry({
    rowKey: Buffer.from('k'),
    mutations: [
      { kind: 'setCell', family: 'f', qualifier: Buffer.from('q'), timestampMicros: -1n, value: Buffer.from('v') },
      { kind: 'deleteFromRow' },
    ],
  });
  // row_key = 1; mutations = 2: set_cell = 1 {family 1, timestamp 3, value 4, qualifier 2}, delete_from_row = 4.
  const setCell = '0a0166' + '120171' + '18ffffffffffffffffff01' + '220176';
  expect(bytes.toString('hex')).toBe('0a016b' + `1216` + `0a14${setCell}` + '12022200');
});

test('a range of a column that is bounded on one side reads back with that side alone', () => {
  const qualifier = Buffer.from('q');
  for (const bounds of [{ startTimestampMicros: 5n }, { endTimestampMicros: 9n }]) {
    const entry = {
      rowKey: qualifier,
      mutations: [{ kind: 'deleteFromColumn' as const, family: 'f', qualifier, ...bounds }],
    };
    expect(decodeEntry(encodeEntry(entry))).toEqual(entry);
  }
});

test('bytes that are no entry end in a RecordError and nothing else', () => {
  fc.assert(
    fc.property(fc.oneof(anyBytes(60), fc.tuple(anyEntry, fc.nat(), fc.nat(255)).map(damaged)), (bytes) => {
      try {
        expect(decodeEntry(bytes).mutations.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(RecordError);
      }
    }),
    { seed: 11, numRuns: 500 },
  );
});

function damaged([entry, at, byte]: readonly [Parameters<typeof encodeEntry>[0], number, number]): Buffer {
  const bytes = encodeEntry(entry);
  if (bytes.length > 0) bytes[at % bytes.length] = byte;
  return bytes.subarray(0, bytes.length - (byte % 3));
}

describe('what an entry may not be', () => {
  const bytesOf = (...mutations: WireMutation[]): Buffer =>
    Buffer.from(WireEntry.encode({ rowKey: Buffer.from('planted-key'), mutations, idempotency: undefined }).finish());
  const add = (change: object): WireMutation => {
    const wire = toWireMutation({
      kind: 'addToCell',
      family: 'planted-family',
      qualifier: Buffer.from('planted-qualifier'),
      timestampMicros: 0n,
      input: { kind: 'int64', value: 1n },
    });
    if (wire.mutation?.$case !== 'addToCell') throw new Error('the mutation is an addToCell');
    return { mutation: { $case: 'addToCell', value: { ...wire.mutation.value, ...change } } };
  };
  const text = { type: undefined, kind: { $case: 'stringValue' as const, value: 'planted-value' } };

  test.each([
    ['without mutations', bytesOf(), 'entry.mutations: must hold at least one mutation'],
    [
      'with a mutation of no kind',
      bytesOf({ mutation: { $case: 'deleteFromRow', value: {} } }, { mutation: undefined }),
      'entry.mutations[1]: must be one of the six kinds of mutation, got none',
    ],
    [
      'with a qualifier that is not raw',
      bytesOf(add({ columnQualifier: text })),
      'entry.mutations[0].addToCell.columnQualifier: must be a raw value',
    ],
    [
      'without a qualifier',
      bytesOf(add({ columnQualifier: undefined })),
      'entry.mutations[0].addToCell.columnQualifier: must be a raw value',
    ],
    [
      'without a timestamp',
      bytesOf(add({ timestamp: undefined })),
      'entry.mutations[0].addToCell.timestamp: must be a raw timestamp in microseconds',
    ],
    [
      'with an input of another type',
      bytesOf(add({ input: text })),
      'entry.mutations[0].addToCell.input: must be a raw, bytes or int value, got stringValue',
    ],
    [
      'without an input',
      bytesOf(add({ input: undefined })),
      'entry.mutations[0].addToCell.input: must be a raw, bytes or int value, got none',
    ],
  ])('%s: the error names the path and the rule and quotes nothing', (_name, bytes, message) => {
    expect(() => decodeEntry(bytes)).toThrow(new RecordError(message));
  });

  test('bytes that are not proto: the error says what they should be', () => {
    // A row key of 127 bytes, of which 7 are there.
    const bytes = Buffer.concat([Buffer.from([0x0a, 0x7f]), Buffer.from('planted')]);
    expect(() => decodeEntry(bytes)).toThrow('must be the bytes of a google.bigtable.v2');
    expect(() => decodeEntry(bytes)).not.toThrow('planted');
  });
});
