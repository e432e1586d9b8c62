import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeMutateRows, entrySize, requestSize } from '../../../../shared/google/bigtable/encode.ts';
import { decodeEntry, encodeEntry, toWireMutation } from '../../../../shared/mapping/rows/entry-wire.ts';
import type { RowEntry } from '../../../../shared/model/mutation.ts';
import { MutateRowsRequest } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { anyEntry } from '../../../support/arbitraries.ts';

const TABLE = 'projects/p/instances/i/tables/t';

function byHand(profile: string, entries: readonly RowEntry[]): Buffer {
  const sized = entries.map((entry) => ({ entry, bytes: entrySize(entry) }));
  const size = requestSize(TABLE, profile, sized);
  // Larger than needed and dirty, as a reused buffer is.
  return encodeMutateRows(Buffer.alloc(size + 64, 0xaa), size, TABLE, profile, sized);
}

const generated = (appProfileId: string, entries: readonly RowEntry[]): Buffer =>
  Buffer.from(
    MutateRowsRequest.encode({
      tableName: TABLE,
      appProfileId,
      authorizedViewName: '',
      entries: entries.map(({ rowKey, mutations }) => ({
        rowKey,
        mutations: mutations.map(toWireMutation),
        idempotency: undefined,
      })),
    }).finish(),
  );

test('the hand-written request is the generated one, byte for byte', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 6 }), fc.constantFrom('', 'writer'), (entries, profile) => {
      expect(byHand(profile, entries).equals(generated(profile, entries))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('lengths on both sides of every varint boundary are encoded alike', () => {
  for (const size of [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152]) {
    const entry: RowEntry = {
      rowKey: Buffer.from('k'),
      mutations: [
        {
          kind: 'setCell',
          family: 'f',
          qualifier: Buffer.from('q'),
          timestampMicros: 1000n,
          value: Buffer.alloc(size, 1),
        },
      ],
    };
    expect(byHand('', [entry]).equals(generated('', [entry]))).toBe(true);
  }
});

test('an entry that changed after its admission is refused before anything is sent', () => {
  const entry: RowEntry = { rowKey: Buffer.from('key'), mutations: [{ kind: 'deleteFromRow' }] };
  const sized = [{ entry, bytes: entrySize(entry) + 1 }];
  const size = requestSize(TABLE, '', sized);
  expect(() => encodeMutateRows(Buffer.alloc(size), size, TABLE, '', sized)).toThrow(/changed between/);
});

test('the size of an entry is the size of its serialized form, and decoding gives it back', () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      const bytes = encodeEntry(entry);
      expect(entrySize(entry)).toBe(bytes.length);
      expect(decodeEntry(bytes)).toEqual(entry);
    }),
    { numRuns: 1000 },
  );
});
