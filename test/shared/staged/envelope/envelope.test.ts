import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import type { Mutation } from '../../../../shared/model/mutation.ts';
import { MAX_ENVELOPE_MUTATIONS, createEnvelope, entryOf } from '../../../../shared/staged/envelope/create-envelope.ts';
import { readEnvelope } from '../../../../shared/staged/envelope/envelope.ts';
import { StoredBytesError } from '../../../../shared/staged/envelope/envelope-fields.ts';
import { CheckAndMutateRowRequest } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { anyEntry } from '../../../support/arbitraries.ts';
import { someMutation } from '../../../support/row-request-arbitraries.ts';
import { addition, cell, envelopeOf, identityNumber, rowEntry, STAGED_TABLE } from '../../../support/envelopes.ts';

const SOURCE = { messageId: 'm', recordIndex: 3, publishTimeMicros: 1_700_000_000_123_456n };

describe('the request of an envelope', () => {
  const envelope = envelopeOf(255, rowEntry('k', addition(5n), cell('x')), {
    appProfileId: 'one-cluster',
    markerFamily: 'm.x',
    markerTimestampMicros: 7000n,
    source: SOURCE,
  });
  const request = CheckAndMutateRowRequest.decode(envelope.request);
  const identity = '000000000000000000000000000000ff';

  test('asks for its own marker and writes it last, beside the mutations of the entry', () => {
    expect(request.tableName).toBe('projects/p/instances/i/tables/t');
    expect(request.appProfileId).toBe('one-cluster');
    expect(request.rowKey.toString()).toBe('k');
    expect(request.trueMutations).toEqual([]);
    expect(request.predicateFilter?.filter).toEqual({
      $case: 'chain',
      value: {
        filters: [
          { filter: { $case: 'familyNameRegexFilter', value: String.raw`m\.x` } },
          { filter: { $case: 'columnQualifierRegexFilter', value: Buffer.from(identity) } },
        ],
      },
    });
    expect(request.falseMutations.map(({ mutation }) => mutation?.$case)).toEqual(['addToCell', 'setCell', 'setCell']);
    expect(request.falseMutations.at(-1)?.mutation?.value).toEqual({
      familyName: 'm.x',
      columnQualifier: Buffer.from(identity),
      timestampMicros: 7000n,
      value: Buffer.from('1'),
    });
  });

  test('says everything that is known of the envelope but its source', () => {
    const read = readEnvelope(envelope.request, SOURCE);
    expect(read).toEqual(envelope);
    expect(read).toMatchObject({
      identity,
      table: STAGED_TABLE,
      appProfileId: 'one-cluster',
      rowKey: Buffer.from('k'),
      markerFamily: 'm.x',
      markerTimestampMicros: 7000n,
      dataFamilies: ['sums', 'f'],
      mutations: 3,
      source: SOURCE,
    });
  });

  test('never changes: format version 1 is these bytes', () => {
    const table = Buffer.from('projects/p/instances/i/tables/t').toString('hex');
    const markers = Buffer.from('markers').toString('hex');
    const one = Buffer.from(identityNumber(1)).toString('hex');
    expect(envelopeOf(1, rowEntry('k', cell('v'))).request.toString('hex')).toBe(
      // table_name = 1, row_key = 2, predicate_filter = 6 {chain = 1 {family 5, qualifier 6}}.
      `0a1f${table}` +
        '12016b' +
        '32310a2f' +
        `0a092a07${markers}` +
        `0a223220${one}` +
        // false_mutations = 5: set_cell = 1 {family 1, qualifier 2, timestamp 3, value 4}, and the marker at 0.
        '2a0e0a0c' +
        '0a0166' +
        '120171' +
        '18e807' +
        '220176' +
        `2a300a2e0a07${markers}` +
        `1220${one}` +
        '220131',
    );
  });
});

/** Entries that can be staged: no whole-row delete, families that a table can have and not the markers'. */
const stageable = fc
  .tuple(anyEntry, fc.array(someMutation, { minLength: 1, maxLength: 6 }))
  .map(([{ rowKey }, mutations]) => ({
    rowKey: Buffer.concat([Buffer.from('k'), rowKey]),
    mutations: mutations.filter(({ kind }) => kind !== 'deleteFromRow'),
  }))
  .filter(({ mutations }) => mutations.length > 0);

test('an entry reads back from its envelope as it was, without the marker', () => {
  fc.assert(
    fc.property(stageable, (entry) => {
      const envelope = envelopeOf(7, entry);
      expect(entryOf(readEnvelope(envelope.request, envelope.source))).toEqual(entry);
    }),
    { seed: 42, numRuns: 300 },
  );
});

test('an envelope that was damaged anywhere in its frame, its predicate or its marker is refused', () => {
  const envelope = envelopeOf(9, rowEntry('k', cell('value')));
  const { request, predicateStart, mutationsStart } = envelope;
  const markerStart = request.length - CheckAndMutateRowRequest.encode(onlyMarker(request)).finish().length;
  for (let at = 0; at < request.length; at += 1) {
    const isFramed = at < 2 || (at >= predicateStart && at < mutationsStart + 4) || at >= markerStart;
    if (!isFramed) continue;
    const damaged = Buffer.from(request);
    damaged[at] = (damaged[at] ?? 0) ^ 0x55;
    expect(() => readEnvelope(damaged, SOURCE), `byte ${at}`).toThrow(StoredBytesError);
  }
});

test('bytes that are no envelope are refused, whatever they are', () => {
  const { request } = envelopeOf(9, rowEntry('k', cell('value')));
  fc.assert(
    fc.property(fc.nat(request.length - 1), fc.nat(255), fc.nat(request.length), (at, byte, length) => {
      const damaged = Buffer.from(request);
      damaged[at] = byte;
      try {
        expect(readEnvelope(damaged.subarray(0, length), SOURCE).mutations).toBe(2);
      } catch (error) {
        expect(error).toBeInstanceOf(StoredBytesError);
      }
    }),
    { seed: 43, numRuns: 2000 },
  );
});

test.each([
  ['a true branch', (request: CheckAndMutateRowRequest) => ({ ...request, trueMutations: request.falseMutations })],
  ['no predicate', (request: CheckAndMutateRowRequest) => ({ ...request, predicateFilter: undefined })],
  ['no mutation but the marker', onlyMutations((mutations) => mutations.slice(-1))],
  ['the marker first', onlyMutations((mutations) => mutations.toReversed())],
  ['the marker twice', onlyMutations((mutations) => [...mutations, ...mutations.slice(-1)])],
  ['a whole-row delete', onlyMutations((mutations) => [DELETE_ROW, ...mutations])],
  ['an authorized view', (request: CheckAndMutateRowRequest) => ({ ...request, authorizedViewName: 'v' })],
])('a stored request with %s is refused', (_what, change) => {
  const request = CheckAndMutateRowRequest.decode(envelopeOf(9, rowEntry('k')).request);
  const changed = Buffer.from(CheckAndMutateRowRequest.encode(change(request)).finish());
  expect(() => readEnvelope(changed, SOURCE)).toThrow(StoredBytesError);
});

test.each([
  ['no mutation', rowEntryOf([]), /must hold 1 to 99999 mutations .* got 0/],
  [
    'more mutations than a request takes beside the marker',
    rowEntryOf(Array.from({ length: MAX_ENVELOPE_MUTATIONS + 1 }, () => cell())),
    /got 100000; .*split/,
  ],
  [
    'a whole-row delete',
    rowEntryOf([cell(), { kind: 'deleteFromRow' as const }]),
    /mutations\[1\] \(deleteFromRow\).*deleteFromFamily/,
  ],
  ['a cell of the marker family', rowEntryOf([cell('v', 'markers')]), /marker family "markers".*another family/],
  [
    'a delete of the marker family',
    rowEntryOf([{ kind: 'deleteFromFamily' as const, family: 'markers' }]),
    /\(deleteFromFamily\): names the marker family/,
  ],
  ['an empty row key', { rowKey: Buffer.alloc(0), mutations: [cell()] }, /row key: must not be empty/],
  ['a blank family', rowEntryOf([cell('v', ' ')]), /family must not be blank/],
  ['more bytes than an envelope may have', rowEntryOf([cell('x'.repeat(33 * 1024 * 1024))]), /at most 33554432 bytes/],
])('an entry with %s is refused before it is staged', (_what, entry, words) => {
  expect(() => envelopeOf(1, entry)).toThrow(RecordError);
  expect(() => envelopeOf(1, entry)).toThrow(words);
});

test('the most mutations that fit beside the marker are taken', () => {
  const many = rowEntryOf(Array.from({ length: MAX_ENVELOPE_MUTATIONS }, () => cell('')));
  expect(envelopeOf(1, many).mutations).toBe(100_000);
});

test('a cell with server time is taken: it is stamped when the effect is applied, once', () => {
  const entry = rowEntryOf([{ ...cell(), timestampMicros: -1n } as Mutation]);
  expect(entryOf(envelopeOf(1, entry))).toEqual(entry);
});

test('an identity of another form is a defect of the caller, not of the record', () => {
  const given = {
    table: STAGED_TABLE,
    appProfileId: '',
    markerTimestampMicros: 0n,
    entry: rowEntry('k'),
    source: SOURCE,
  };
  expect(() => createEnvelope({ ...given, identity: 'a|b', markerFamily: 'm' })).toThrow(TypeError);
  expect(() => createEnvelope({ ...given, identity: identityNumber(1), markerFamily: ' ' })).toThrow(TypeError);
});

function rowEntryOf(mutations: readonly Mutation[]): { rowKey: Buffer; mutations: readonly Mutation[] } {
  return { rowKey: Buffer.from('k'), mutations };
}

function onlyMutations(
  change: (mutations: CheckAndMutateRowRequest['falseMutations']) => CheckAndMutateRowRequest['falseMutations'],
): (request: CheckAndMutateRowRequest) => CheckAndMutateRowRequest {
  return (request) => ({ ...request, falseMutations: change(request.falseMutations) });
}

const DELETE_ROW: CheckAndMutateRowRequest['falseMutations'][number] = {
  mutation: { $case: 'deleteFromRow', value: {} },
};

function onlyMarker(request: Buffer): CheckAndMutateRowRequest {
  const { falseMutations } = CheckAndMutateRowRequest.decode(request);
  return {
    ...CheckAndMutateRowRequest.decode(Buffer.alloc(0)),
    falseMutations: falseMutations.slice(-1),
  };
}
