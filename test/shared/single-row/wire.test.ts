import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../../../infra/local/servers/bigtable/filters/byte-pattern.ts';
import {
  CheckAndMutateRowRequest,
  CheckAndMutateRowResponse,
  ReadModifyWriteRowRequest,
  ReadModifyWriteRowResponse,
} from '../../../shared/proto/google/bigtable/v2/bigtable.ts';
import {
  cellsPerRow,
  interleave,
  latestCellValueEquals,
  noCell,
  type RowFilter,
  timestampRange,
} from '../../../shared/model/filter/filter.ts';
import { conditionalRequest, readModifyWriteRequest } from '../../../shared/model/conditional.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { patternOf } from '../../../shared/model/filter/exact-pattern.ts';
import { toWireFilter } from '../../../shared/forms/filter-wire.ts';
import { decodeRowAnswer, encodeRowRequest } from '../../../shared/single-row/wire.ts';
import { anyBytes } from '../../support/arbitraries.ts';

const rowKey = Buffer.from([0x00, 0xff]);
const qualifier = Buffer.from('q');
const table = tableName('p', 'i', 't');

const sentConditional = (predicate?: RowFilter): CheckAndMutateRowRequest =>
  CheckAndMutateRowRequest.decode(
    encodeRowRequest(table, 'one-cluster', {
      kind: 'conditional',
      request: conditionalRequest({
        rowKey,
        then: [{ kind: 'setCell', family: 'f', qualifier, timestampMicros: 1234000n, value: Buffer.from([0]) }],
        otherwise: [
          { kind: 'deleteFromColumn', family: 'f', qualifier },
          {
            kind: 'mergeToCell',
            family: 'a',
            qualifier,
            timestampMicros: 7000n,
            input: { kind: 'raw', value: rowKey },
          },
        ],
        ...(predicate && { predicate }),
      }),
    }),
  );

describe('a conditional request on the wire', () => {
  test('names the table and profile given when it is encoded, and keeps both branches in order', () => {
    const sent = sentConditional(noCell());
    expect(sent).toMatchObject({
      tableName: 'projects/p/instances/i/tables/t',
      appProfileId: 'one-cluster',
      authorizedViewName: '',
      rowKey,
    });
    expect(sent.trueMutations.map(({ mutation }) => mutation)).toEqual([
      {
        $case: 'setCell',
        value: { familyName: 'f', columnQualifier: qualifier, timestampMicros: 1234000n, value: Buffer.from([0]) },
      },
    ]);
    expect(sent.falseMutations.map(({ mutation }) => mutation)).toEqual([
      { $case: 'deleteFromColumn', value: { familyName: 'f', columnQualifier: qualifier, timeRange: undefined } },
      {
        $case: 'mergeToCell',
        value: {
          familyName: 'a',
          columnQualifier: { type: undefined, kind: { $case: 'rawValue', value: qualifier } },
          timestamp: { type: undefined, kind: { $case: 'rawTimestampMicros', value: 7000n } },
          input: { type: undefined, kind: { $case: 'rawValue', value: rowKey } },
        },
      },
    ]);
  });

  test('without a predicate leaves the filter unset, which asks for any cell at all', () => {
    expect(sentConditional().predicateFilter).toBeUndefined();
  });

  test('compares the newest value in four steps: family, qualifier, one version, value', () => {
    const filter = sentConditional(latestCellValueEquals('cf-1', Buffer.from('a.b'), Buffer.from([0, 0x80])));
    expect(filter.predicateFilter?.filter).toEqual({
      $case: 'chain',
      value: {
        filters: [
          { filter: { $case: 'familyNameRegexFilter', value: String.raw`cf\-1` } },
          { filter: { $case: 'columnQualifierRegexFilter', value: Buffer.from(String.raw`a\.b`) } },
          { filter: { $case: 'cellsPerColumnLimitFilter', value: 1 } },
          { filter: { $case: 'valueRegexFilter', value: Buffer.from('\\x00\x80', 'latin1') } },
        ],
      },
    });
  });

  test.each<[string, RowFilter, unknown]>([
    ['no cell', noCell(), { $case: 'blockAllFilter', value: true }],
    ['times without end', timestampRange(5000n), { $case: 'timestampRangeFilter', value: { startTimestampMicros: 5000n, endTimestampMicros: 0n } }],
    ['times with an end', timestampRange(0n, 9000n), { $case: 'timestampRangeFilter', value: { startTimestampMicros: 0n, endTimestampMicros: 9000n } }],
    ['cells of the row', cellsPerRow(3), { $case: 'cellsPerRowLimitFilter', value: 3 }],
    ['united filters', interleave(noCell()), { $case: 'interleave', value: { filters: [{ filter: { $case: 'blockAllFilter', value: true } }] } }],
  ])('says %s in the words of the service', (_name, filter, wire) => {
    expect(toWireFilter(filter).filter).toEqual(wire);
  }); // prettier-ignore
});

test('a read-modify-write request keeps its rules in order, repeats and the whole of int64', () => {
  const request = readModifyWriteRequest({
    rowKey,
    rules: [
      { kind: 'increment', family: 'f', qualifier, amount: -(2n ** 63n) },
      { kind: 'append', family: 'f', qualifier, value: Buffer.from([0, 255]) },
      { kind: 'append', family: 'f', qualifier, value: Buffer.from([0, 255]) },
    ],
  });
  const sent = ReadModifyWriteRowRequest.decode(encodeRowRequest(table, '', { kind: 'readModifyWrite', request }));
  expect(sent).toMatchObject({ tableName: 'projects/p/instances/i/tables/t', appProfileId: '', rowKey });
  expect(sent.rules.map(({ rule }) => rule)).toEqual([
    { $case: 'incrementAmount', value: -(2n ** 63n) },
    { $case: 'appendValue', value: Buffer.from([0, 255]) },
    { $case: 'appendValue', value: Buffer.from([0, 255]) },
  ]);
});

describe('an answer', () => {
  test.each([true, false])('to a conditional request is whether the predicate matched: %s', (predicateMatched) => {
    const bytes = Buffer.from(CheckAndMutateRowResponse.encode({ predicateMatched }).finish());
    expect(decodeRowAnswer('conditional', bytes)).toEqual({ kind: 'conditional', predicateMatched });
  });

  test('to a read-modify-write request is the changed cells, in the order of the service', () => {
    const cell = (timestampMicros: bigint, text: string, labels: string[] = []) => ({
      timestampMicros,
      value: Buffer.from(text),
      labels,
    });
    const families = [
      {
        name: 'g',
        columns: [
          { qualifier: Buffer.from('z'), cells: [cell(9n, 'new'), cell(3n, 'old', ['l'])] },
          { qualifier: Buffer.from('a'), cells: [cell(1n, '')] },
        ],
      },
      { name: 'f', columns: [{ qualifier: Buffer.alloc(0), cells: [cell(2n ** 63n - 1n, 'x')] }] },
    ];
    const bytes = Buffer.from(ReadModifyWriteRowResponse.encode({ row: { key: rowKey, families } }).finish());
    expect(decodeRowAnswer('readModifyWrite', bytes)).toEqual({
      kind: 'readModifyWrite',
      cells: [
        { family: 'g', qualifier: Buffer.from('z'), ...cell(9n, 'new') },
        { family: 'g', qualifier: Buffer.from('z'), ...cell(3n, 'old', ['l']) },
        { family: 'g', qualifier: Buffer.from('a'), ...cell(1n, '') },
        { family: 'f', qualifier: Buffer.alloc(0), ...cell(2n ** 63n - 1n, 'x') },
      ],
    });
  });

  test('that is no response of the RPC is refused, not read as an empty one', () => {
    expect(() => decodeRowAnswer('conditional', Buffer.from([0xff]))).toThrow();
  });
});

describe('exact bytes as a pattern', () => {
  test('match themselves and no other bytes', () => {
    fc.assert(
      fc.property(anyBytes(), anyBytes(), (bytes, other) => {
        const matches = compilePattern(patternOf(bytes).toString('latin1')).test;
        expect(matches(bytes.toString('latin1'))).toBe(true);
        expect(matches(other.toString('latin1'))).toBe(bytes.equals(other));
      }),
      { seed: 51, numRuns: 500 },
    );
  });

  test('quote every byte but letters, digits, underscore and those from 0x80 on; NUL has a name', () => {
    const plain = Array.from({ length: 256 }, (_, byte) => byte).filter(
      (byte) => patternOf(Buffer.from([byte])).length === 1,
    );
    expect(Buffer.from(plain).toString('latin1')).toBe(
      `0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz${Buffer.from(plain.filter((byte) => byte >= 0x80)).toString('latin1')}`,
    );
    expect(plain.filter((byte) => byte >= 0x80)).toHaveLength(128);
    expect(patternOf(Buffer.from('\0.\n')).toString()).toBe('\\x00\\.\\\n');
  });
});
