import { otherFamiliesPattern } from '../../shared/model/filter/exact-pattern.ts';
import type { RowFilter } from '../../shared/proto/google/bigtable/v2/data.ts';
import { code, entry, mutateRows, readRows, setCell } from '../support/bigtable-raw-client.ts';
import type { ContractCase } from './bigtable-case.ts';

type Filter = RowFilter['filter'];

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const family = (value: string): Filter => ({ $case: 'familyNameRegexFilter', value });
const qualifier = (value: string): Filter => ({ $case: 'columnQualifierRegexFilter', value: bytes(value) });
const value = (text: string): Filter => ({ $case: 'valueRegexFilter', value: bytes(text) });
const key = (text: string): Filter => ({ $case: 'rowKeyRegexFilter', value: bytes(text) });
const perColumn = (cells: number): Filter => ({ $case: 'cellsPerColumnLimitFilter', value: cells });
const perRow = (cells: number): Filter => ({ $case: 'cellsPerRowLimitFilter', value: cells });
const skip = (cells: number): Filter => ({ $case: 'cellsPerRowOffsetFilter', value: cells });
const label = (text: string): Filter => ({ $case: 'applyLabelTransformer', value: text });
const PASS: Filter = { $case: 'passAllFilter', value: true };
const BLOCK: Filter = { $case: 'blockAllFilter', value: true };
const STRIP: Filter = { $case: 'stripValueTransformer', value: true };
const SINK: Filter = { $case: 'sink', value: true };
const several = (filters: readonly Filter[]) => ({ filters: filters.map((filter) => ({ filter })) });
const chain = (...filters: Filter[]): Filter => ({ $case: 'chain', value: several(filters) });
const interleave = (...filters: Filter[]): Filter => ({ $case: 'interleave', value: several(filters) });
const condition = (predicate: Filter, whenTrue?: Filter, whenFalse?: Filter): Filter => ({
  $case: 'condition',
  value: {
    predicateFilter: { filter: predicate },
    trueFilter: whenTrue && { filter: whenTrue },
    falseFilter: whenFalse && { filter: whenFalse },
  },
});

/**
 * The rows that every filter reads: `a` has columns in two families and two versions of one column, `b` has one cell of
 * binary value. Cells are written `family:qualifier@timestamp=value`.
 */
const ROWS = [
  entry(
    'a',
    setCell('f', 'p', 'one'),
    setCell('f', 'q', 'old', 1000n),
    setCell('f', 'q', 'new', 2000n),
    setCell('g', 'q', ''),
  ),
  entry('b', setCell('f', 'p', Buffer.from([0, 10, 255]), 3000n)),
];
const A = { p: 'f:p@1000=one', qNew: 'f:q@2000=new', qOld: 'f:q@1000=old', g: 'g:q@1000=' };
const B = 'f:p@3000=\x00\n\xff';

/** Filter → the cells that pass, by row. */
const PASSES: readonly (readonly [string, Filter, Readonly<Record<string, readonly string[]>>])[] = [
  ['pass all', PASS, { a: [A.p, A.qNew, A.qOld, A.g], b: [B] }],
  ['block all', BLOCK, {}],
  ['a family by name', family('g'), { a: [A.g] }],
  ['families by pattern', family('[fg]'), { a: [A.p, A.qNew, A.qOld, A.g], b: [B] }],
  ['every family but one, without look-ahead', family(otherFamiliesPattern('f')), { a: [A.g] }],
  [
    'every family but one that is longer',
    family(otherFamiliesPattern('f.x')),
    { a: [A.p, A.qNew, A.qOld, A.g], b: [B] },
  ],
  ['a pattern must match the whole qualifier', qualifier('p|qq'), { a: [A.p], b: [B] }],
  ['a row key by pattern', key('[b-z]'), { b: [B] }],
  ['the dot does not match a new line', value('.{3}'), { a: [A.p, A.qNew, A.qOld] }],
  ['\\C matches any byte', value('\\C{3}'), { a: [A.p, A.qNew, A.qOld], b: [B] }],
  ['a quoted byte', value('\\x00\\n\\xff'), { b: [B] }],
  ['an empty value', value(''), { a: [A.g] }],
  ['the newest version of each column', perColumn(1), { a: [A.p, A.qNew, A.g], b: [B] }],
  ['the first cells of a row', chain(family('f'), perRow(2)), { a: [A.p, A.qNew], b: [B] }],
  ['all but the first cells of a row', chain(family('f'), skip(2)), { a: [A.qOld] }],
  [
    'a range of qualifiers',
    {
      $case: 'columnRangeFilter',
      value: {
        familyName: 'f',
        startQualifier: { $case: 'startQualifierOpen', value: bytes('p') },
        endQualifier: { $case: 'endQualifierClosed', value: bytes('q') },
      },
    },
    { a: [A.qNew, A.qOld] },
  ],
  [
    'a range of values',
    {
      $case: 'valueRangeFilter',
      value: {
        startValue: { $case: 'startValueClosed', value: bytes('new') },
        endValue: { $case: 'endValueOpen', value: bytes('one') },
      },
    },
    { a: [A.qNew, A.qOld] },
  ],
  [
    'a range of timestamps, its end exclusive',
    { $case: 'timestampRangeFilter', value: { startTimestampMicros: 2000n, endTimestampMicros: 3000n } },
    { a: [A.qNew] },
  ],
  [
    'a range of timestamps without an end',
    { $case: 'timestampRangeFilter', value: { startTimestampMicros: 2000n, endTimestampMicros: 0n } },
    { a: [A.qNew], b: [B] },
  ],
  ['values are stripped', chain(family('f'), qualifier('q'), STRIP), { a: ['f:q@2000=', 'f:q@1000='] }],
  ['a chain narrows step by step', chain(perColumn(1), qualifier('q')), { a: [A.qNew, A.g] }],
  [
    'an interleave repeats what passes twice',
    interleave(qualifier('p'), family('g'), family('g')),
    {
      a: [A.p, A.g, A.g],
      b: [B],
    },
  ],
  ['cells are labelled', chain(family('g'), label('seen')), { a: [`${A.g} #seen`] }],
  ['a condition chooses by row', condition(family('g'), value('one'), PASS), { a: [A.p], b: [B] }],
  ['a condition without a branch passes nothing', condition(family('g'), value('one')), { a: [A.p] }],
  [
    'a sink goes past its parents',
    chain(qualifier('q'), interleave(PASS, SINK), BLOCK),
    {
      a: [A.qNew, A.qOld, A.g],
    },
  ],
];

/** Filters that are refused. */
const REFUSED: readonly (readonly [string, Filter])[] = [
  ['a chain of one', chain(PASS)],
  ['an interleave of one', interleave(PASS)],
  ['a sink in a condition', condition(PASS, SINK)],
  ['a limit of no cells', perColumn(0)],
  ['a label in capitals', label('SEEN')],
  ['two labels in a chain', chain(label('one'), label('two'))],
  ['a broken pattern', value('[')],
  ['a share of 1', { $case: 'rowSampleFilter', value: 1 }],
  [
    'a timestamp range of parts of milliseconds',
    { $case: 'timestampRangeFilter', value: { startTimestampMicros: 1n, endTimestampMicros: 2001n } },
  ],
  ['nothing', undefined],
];

export const FILTER_CASES: readonly ContractCase[] = [
  ...PASSES.map(([name, filter, service]): ContractCase => ({
    name: `filter: ${name}`,
    async run(client, create) {
      const table = await create({ f: {}, g: {} });
      await mutateRows(client, table, ROWS);
      const rows = await readRows(client, table, { filter: { filter } });
      return Object.fromEntries(rows.map((row) => [row.key, row.cells]));
    },
    service,
  })),
  ...REFUSED.map(([name, filter]): ContractCase => ({
    name: `refused filter: ${name}`,
    async run(client, create) {
      const table = await create({ f: {}, g: {} });
      await mutateRows(client, table, ROWS);
      return code(readRows(client, table, { filter: { filter } }));
    },
    service: 'INVALID_ARGUMENT',
  })),
];
