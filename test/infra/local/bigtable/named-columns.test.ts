import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileFilter } from '../../../../infra/local/bigtable/filters.ts';
import { type GcRule, liveCells } from '../../../../infra/local/bigtable/gc.ts';
import { SERVICE_LIMITS } from '../../../../infra/local/bigtable/limits.ts';
import { cellsIn, namedColumns } from '../../../../infra/local/bigtable/named-columns.ts';
import { putCell, type Row } from '../../../../infra/local/bigtable/row.ts';
import type { RowFilter } from '../../../../infra/local/proto/google/bigtable/v2/data.ts';

const FAMILIES = new Map(['f', 'g', 'g.h'].map((name) => [name, {} as never]));
const OPTIONS = { limits: SERVICE_LIMITS, random: () => 0.5 };

const family = (expression: string): RowFilter => ({ filter: { $case: 'familyNameRegexFilter', value: expression } });
const qualifier = (expression: string): RowFilter => ({
  filter: { $case: 'columnQualifierRegexFilter', value: Buffer.from(expression, 'latin1') },
});
const limit = (count: number): RowFilter => ({ filter: { $case: 'cellsPerRowLimitFilter', value: count } });
const newest = (count: number): RowFilter => ({ filter: { $case: 'cellsPerColumnLimitFilter', value: count } });
const chain = (...filters: RowFilter[]): RowFilter => ({ filter: { $case: 'chain', value: { filters } } });

const anyFamily = fc.constantFrom('f', 'g', String.raw`g\.h`, 'f|g', '.', 'g.h').map(family);
const anyQualifier = fc
  .oneof(
    fc.array(fc.constantFrom('a', 'b', 'ab', '', String.raw`a\|b`, '\xff'), { minLength: 1, maxLength: 5 }),
    fc.constantFrom(['(?i)A', 'b'], ['(a', 'b)'], ['a+'], ['^a$']),
  )
  .map((alternatives) => qualifier(alternatives.join('|')));
const anyFilter = fc
  .tuple(anyFamily, anyQualifier, fc.constantFrom([], [limit(1)], [newest(1), limit(2)]), fc.nat(3))
  .map(([first, second, rest, shape]) => {
    if (shape === 0) return chain(second, first, ...rest);
    return shape === 1 ? chain(chain(first, second), limit(3), ...rest) : chain(first, second, ...rest);
  });

const anyCell = fc.record({
  family: fc.constantFrom('f', 'g', 'g.h'),
  qualifier: fc.constantFrom('a', 'A', 'b', 'ab', '', 'a|b', '\xff', 'c'),
  timestampMicros: fc.constantFrom(1n, 2n, 3n, 4n),
  value: fc.constant(Buffer.from('v')),
});
const anyRule = fc.constantFrom<GcRule | undefined>(
  undefined,
  { kind: 'maxVersions', versions: 1 },
  { kind: 'maxAge', micros: 2n },
);

test('a row passes a filter in the columns that it names as it passes it in all of its columns', () => {
  let narrowed = 0;
  fc.assert(
    fc.property(anyFilter, fc.array(anyCell, { maxLength: 40 }), anyRule, anyRule, (filter, cells, ofF, ofG) => {
      const row: Row = { key: 'k', cells: [] };
      for (const cell of cells) putCell(row, cell);
      const ruleOf = (name: string): GcRule | undefined => (name === 'f' ? ofF : ofG);
      const pass = compileFilter(filter, FAMILIES, OPTIONS);
      const columns = namedColumns(filter);
      if (!columns) return;
      narrowed += 1;
      const seen = { key: 'k', cells: cellsIn(row, columns) };
      expect(pass('k', liveCells(seen, ruleOf, 5n))).toEqual(pass('k', liveCells(row, ruleOf, 5n)));
    }),
    { seed: 11, numRuns: 1000 },
  );
  expect(narrowed).toBeGreaterThan(200);
});

test.each([
  { what: 'one family and one qualifier', filter: chain(family('f'), qualifier('a')), qualifiers: ['a'] },
  { what: 'qualifiers in any order', filter: chain(family('f'), qualifier('b|a|b')), qualifiers: ['a', 'b'] },
  { what: 'more filters behind', filter: chain(family('f'), qualifier('a'), limit(1)), qualifiers: ['a'] },
])('$what name columns', ({ filter, qualifiers }) => {
  expect(namedColumns(filter)).toEqual({ family: 'f', qualifiers });
});

test.each([
  { what: 'a qualifier before the family', filter: chain(qualifier('a'), family('f')) },
  { what: 'two families', filter: chain(family('f|g'), qualifier('a')) },
  { what: 'a pattern of qualifiers', filter: chain(family('f'), qualifier('a.')) },
  { what: 'a filter between', filter: chain(family('f'), limit(1), qualifier('a')) },
  { what: 'a family alone', filter: family('f') },
])('$what names none', ({ filter }) => {
  expect(namedColumns(filter)).toBeUndefined();
});
