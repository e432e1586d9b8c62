import { describe, expect, test } from 'vitest';
import { encodeFilter, encodeInTurn, toWireFilter } from '../../../shared/forms/filter-wire.ts';
import { scanFilter } from '../../../shared/forms/scan-filter-form.ts';
import { RowFilter } from '../../../shared/proto/google/bigtable/v2/data.ts';

const wireOf = (written: unknown): RowFilter['filter'] => toWireFilter(scanFilter.parse(written)).filter;

/** What is wrong with a filter, each by its place. */
const problemsOf = (written: unknown): string[] =>
  (scanFilter.safeParse(written).error?.issues ?? []).map(({ path, message }) =>
    [path.join('.'), message].filter((part) => part !== '').join(': '),
  );

const bytes = (text: string): Buffer => Buffer.from(text);

describe('a filter on the wire', () => {
  test.each<[unknown, RowFilter['filter']]>([
    [{ all: {} }, { $case: 'passAllFilter', value: true }],
    [{ none: {} }, { $case: 'blockAllFilter', value: true }],
    [{ family: 'a.b' }, { $case: 'familyNameRegexFilter', value: 'a\\.b' }],
    [{ familyRegex: 'a.*' }, { $case: 'familyNameRegexFilter', value: 'a.*' }],
    [{ rowKeyRegex: 'user#[0-9]+' }, { $case: 'rowKeyRegexFilter', value: bytes('user#[0-9]+') }],
    [{ qualifier: 'a.b' }, { $case: 'columnQualifierRegexFilter', value: bytes('a\\.b') }],
    [{ qualifierRegex: { base64: 'YS4q' } }, { $case: 'columnQualifierRegexFilter', value: bytes('a.*') }],
    [{ valueRegex: String.raw`\C\C` }, { $case: 'valueRegexFilter', value: bytes('\\C\\C') }],
    [{ value: { int64: 1 } }, { $case: 'valueRegexFilter', value: Buffer.from(String.raw`\x00`.repeat(7) + '\\\x01') }],
    [
      { columnRange: { family: 'f', start: 'a', end: 'b' } },
      {
        $case: 'columnRangeFilter',
        value: {
          familyName: 'f',
          startQualifier: { $case: 'startQualifierClosed', value: bytes('a') },
          endQualifier: { $case: 'endQualifierOpen', value: bytes('b') },
        },
      },
    ],
    [
      { columnRange: { family: 'f', startOpen: '' } },
      {
        $case: 'columnRangeFilter',
        value: {
          familyName: 'f',
          startQualifier: { $case: 'startQualifierOpen', value: bytes('') },
          endQualifier: undefined,
        },
      },
    ],
    [
      { valueRange: { endClosed: 'b' } },
      {
        $case: 'valueRangeFilter',
        value: { startValue: undefined, endValue: { $case: 'endValueClosed', value: bytes('b') } },
      },
    ],
    [{ valueBitmask: { base64: 'AQI=' } }, { $case: 'valueBitmaskFilter', value: { mask: Buffer.of(1, 2) } }],
    [
      { timestampRange: { startMicros: '1000', endMicros: 5000 } },
      { $case: 'timestampRangeFilter', value: { startTimestampMicros: 1000n, endTimestampMicros: 5000n } },
    ],
    [{ cellsPerRow: 2 }, { $case: 'cellsPerRowLimitFilter', value: 2 }],
    [{ cellsPerRowOffset: 3 }, { $case: 'cellsPerRowOffsetFilter', value: 3 }],
    [{ cellsPerColumn: 1 }, { $case: 'cellsPerColumnLimitFilter', value: 1 }],
    [{ stripValue: {} }, { $case: 'stripValueTransformer', value: true }],
    [{ label: 'old-1' }, { $case: 'applyLabelTransformer', value: 'old-1' }],
    [{ sink: {} }, { $case: 'sink', value: true }],
    [
      { condition: { predicate: { family: 'a' }, then: { all: {} } } },
      {
        $case: 'condition',
        value: {
          predicateFilter: { filter: { $case: 'familyNameRegexFilter', value: 'a' } },
          trueFilter: { filter: { $case: 'passAllFilter', value: true } },
          falseFilter: undefined,
        },
      },
    ],
    [
      { interleave: [{ stripValue: {} }, { chain: [{ cellsPerRow: 1 }, { sink: {} }] }] },
      {
        $case: 'interleave',
        value: {
          filters: [
            { filter: { $case: 'stripValueTransformer', value: true } },
            {
              filter: {
                $case: 'chain',
                value: {
                  filters: [
                    { filter: { $case: 'cellsPerRowLimitFilter', value: 1 } },
                    { filter: { $case: 'sink', value: true } },
                  ],
                },
              },
            },
          ],
        },
      },
    ],
    // The service takes no combination of a single filter.
    [{ chain: [{ interleave: [{ cellsPerRow: 1 }] }] }, { $case: 'cellsPerRowLimitFilter', value: 1 }],
  ])('%j', (written, wire) => {
    expect(wireOf(written)).toEqual(wire);
    expect(RowFilter.decode(encodeFilter(scanFilter.parse(written))).filter).toEqual(wire);
  });

  test('behind a shape is one chain with it', () => {
    const strip = scanFilter.parse({ stripValue: {} });
    const latest = scanFilter.parse({ cellsPerColumn: 1 });
    expect(encodeInTurn([undefined])).toBeUndefined();
    expect(encodeInTurn([latest, undefined])).toEqual(encodeFilter(latest));
    expect(encodeInTurn([undefined, encodeFilter(strip)])).toEqual(encodeFilter(strip));
    expect(encodeInTurn([latest, encodeFilter(strip)])).toEqual(
      encodeFilter({ kind: 'chain', filters: [latest, strip] }),
    );
  });
});

describe('a filter is refused', () => {
  test.each<[string, unknown, string[]]>([
    [
      'a sample of rows, because another reading would draw another',
      { rowSample: 0.1 },
      [
        'rowSample: is not taken: a scan that goes on after a failure would draw another sample. Sample by a pattern of row keys, or where the messages are read',
      ],
    ],
    [
      'a pattern that is none of RE2',
      { valueRegex: '(' },
      ['valueRegex: must be a pattern of RE2: error parsing regexp: missing closing ): `(`'],
    ],
    [
      'a pattern with a back reference',
      { rowKeyRegex: String.raw`(a)\1` },
      ['rowKeyRegex: must be a pattern of RE2: error parsing regexp: invalid escape sequence: `\\1`'],
    ],
    ['a family pattern with a colon', { familyRegex: 'a:b' }, ['familyRegex: must hold no colon, got one']],
    ['a label of other characters', { label: 'Big' }, ['label: must be 1 to 15 of a-z, 0-9 and "-", got another text']],
    [
      'a label that is too long',
      { label: 'a'.repeat(16) },
      ['label: must be 1 to 15 of a-z, 0-9 and "-", got another text'],
    ],
    ['a mask of no bytes', { valueBitmask: '' }, ['valueBitmask: must not be empty, got no byte']],
    [
      'an offset of nothing',
      { cellsPerRowOffset: 0 },
      ['cellsPerRowOffset: must be an integer from 1 to 2^31 − 1, got 0'],
    ],
    [
      'two starts',
      { columnRange: { family: 'f', start: 'a', startOpen: 'a' } },
      ['columnRange.startOpen: must not be set beside start'],
    ],
    ['two ends', { valueRange: { end: 'a', endClosed: 'a' } }, ['valueRange.endClosed: must not be set beside end']],
    [
      'bounds that hold nothing',
      { valueRange: { start: 'b', end: 'a' } },
      ['valueRange: must hold something: the end lies before the start'],
    ],
    [
      'a point that is open',
      { valueRange: { start: 'a', end: 'a' } },
      ['valueRange: must hold something: the end lies before the start'],
    ],
    [
      'a column range without a family',
      { columnRange: { start: 'a' } },
      ['columnRange.family: is required and must be a text'],
    ],
    [
      'a condition without a branch',
      { condition: { predicate: { all: {} } } },
      ['condition: must have then or otherwise, got neither'],
    ],
    [
      'a condition without a predicate',
      { condition: { then: { all: {} } } },
      ['condition.predicate: is required and must be an object'],
    ],
    ['a chain of nothing', { chain: [] }, ['chain: must combine at least one filter, got none']],
    [
      'two labels in a chain',
      { chain: [{ label: 'a' }, { interleave: [{ label: 'b' }, { all: {} }] }] },
      ['must label a cell at most once, got several labels in one chain'],
    ],
    [
      'a sink in a condition',
      { condition: { predicate: { all: {} }, then: { interleave: [{ all: {} }, { sink: {} }] } } },
      ['must not hold a sink inside a condition, got one'],
    ],
    [
      'every mistake at its own place',
      { interleave: [{ label: '' }, { cellsPerRow: 0 }] },
      [
        'interleave.0.label: must be 1 to 15 of a-z, 0-9 and "-", got another text',
        'interleave.1.cellsPerRow: must be an integer from 1 to 2^31 − 1, got 0',
      ],
    ],
  ])('%s', (_name, written, problems) => {
    expect(problemsOf(written)).toEqual(problems);
  });

  test('two labels beside each other are none of one cell too many', () => {
    expect(problemsOf({ interleave: [{ label: 'a' }, { label: 'b' }] })).toEqual([]);
  });

  test('filters that stand more than 20 deep in each other, conditions included', () => {
    const nested = (depth: number): object => {
      if (depth === 0) return { all: {} };
      const inner = nested(depth - 1);
      return depth % 2 === 0 ? { chain: [inner, inner] } : { condition: { predicate: { all: {} }, then: inner } };
    };
    expect(problemsOf(nested(18))).toEqual([]);
    const deep = Array.from({ length: 21 }).reduce<object>((inner) => ({ chain: [{ all: {} }, inner] }), { all: {} });
    expect(problemsOf(deep)).toEqual(['must nest chains and interleaves at most 20 deep, got more']);
  });
});
