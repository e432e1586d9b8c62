import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileFilter, passingCells } from '../../../../../../infra/local/servers/bigtable/filters/filters.ts';
import {
  cellsAround,
  type NamedColumns,
} from '../../../../../../infra/local/servers/bigtable/filters/named-columns.ts';
import { SERVICE_LIMITS } from '../../../../../../infra/local/servers/bigtable/limits.ts';
import { liveCells, type GcRule } from '../../../../../../infra/local/servers/bigtable/rows/gc.ts';
import { putCell, type Row, type ReadCell } from '../../../../../../infra/local/servers/bigtable/rows/row.ts';
import { parseFamily, type Family } from '../../../../../../infra/local/servers/bigtable/rows/schema.ts';
import { GrpcError } from '../../../../../../infra/local/servers/rpc/grpc.ts';
import type { RowFilter } from '../../../../../../shared/proto/google/bigtable/v2/data.ts';

const FAMILIES: ReadonlyMap<string, Family> = new Map(
  ['f', 'f.x', 'g'].map((name) => [name, parseFamily(name, { gcRule: undefined, valueType: undefined })]),
);
const NOW_MICROS = 10_000n;

const family = (pattern: string): RowFilter => ({ filter: { $case: 'familyNameRegexFilter', value: pattern } });
const qualifier = (pattern: string): RowFilter => ({
  filter: { $case: 'columnQualifierRegexFilter', value: Buffer.from(pattern, 'latin1') },
});
const chain = (...filters: RowFilter[]): RowFilter => ({ filter: { $case: 'chain', value: { filters } } });
const interleave = (...filters: RowFilter[]): RowFilter => ({ filter: { $case: 'interleave', value: { filters } } });
const SINK: RowFilter = { filter: { $case: 'sink', value: true } };
const PASS_ALL: RowFilter = { filter: { $case: 'passAllFilter', value: true } };

const compiled = (filter: RowFilter, scansRows = false) =>
  compileFilter(filter, FAMILIES, { limits: SERVICE_LIMITS, random: sampling(), scansRows });

/** The same numbers for everyone who asks in the same order. */
function sampling(): () => number {
  let asked = 0;
  return () => ((asked += 1) * 0.37) % 1;
}

describe('the columns of a filter', () => {
  const a = { family: 'f', qualifiers: ['a'] };
  test.each<{ name: string; filter: RowFilter; columns: NamedColumns | undefined }>([
    { name: 'one family, one qualifier', filter: chain(family('f'), qualifier('a')), columns: a },
    {
      name: 'a family whose name is quoted',
      filter: chain(family('f\\.x'), qualifier('a')),
      columns: { ...a, family: 'f.x' },
    },
    {
      name: 'alternatives with escapes, one of them empty',
      filter: chain(family('f'), qualifier('a||\\Qb|c\\E|\\x64\\|')),
      columns: { family: 'f', qualifiers: ['a', '', 'b|c', 'd|'] },
    },
    { name: 'more filters behind', filter: chain(family('f'), qualifier('a'), SINK), columns: a },
    { name: 'a chain that begins with a chain', filter: chain(chain(family('f'), qualifier('a')), SINK), columns: a },
    { name: 'a chain that goes on as a chain', filter: chain(family('f'), chain(qualifier('a'), SINK)), columns: a },
    { name: 'several families', filter: chain(family('f|g'), qualifier('a')), columns: undefined },
    { name: 'a family of any name', filter: chain(family('f.x'), qualifier('a')), columns: undefined },
    { name: 'a qualifier in any case', filter: chain(family('f'), qualifier('(?i)a|b')), columns: undefined },
    { name: 'a qualifier in a group', filter: chain(family('f'), qualifier('(a|b)')), columns: undefined },
    { name: 'a qualifier with an operator', filter: chain(family('f'), qualifier('a|b*')), columns: undefined },
    { name: 'no family', filter: qualifier('a'), columns: undefined },
    { name: 'no qualifier', filter: chain(family('f'), SINK), columns: undefined },
    {
      name: 'something between',
      filter: chain(family('f'), interleave(PASS_ALL, SINK), qualifier('a')),
      columns: undefined,
    },
    {
      name: 'a sink between',
      filter: chain(chain(family('f'), SINK), qualifier('a')),
      columns: undefined,
    },
    {
      name: 'columns in an interleave',
      filter: interleave(chain(family('f'), qualifier('a')), SINK),
      columns: undefined,
    },
  ])('$name', ({ filter, columns }) => {
    expect(compiled(filter).columns).toEqual(columns);
  });

  test('are left open by a server that scans', () => {
    expect(compiled(chain(family('f'), qualifier('a')), true).columns).toBeUndefined();
  });

  test('are all that is collected of a long row, each once and in order', () => {
    const row: Row = { key: 'r', cells: [] };
    for (const name of ['f', 'g']) {
      for (let at = 0; at < 1000; at += 1) {
        for (const timestampMicros of [1000n, 2000n]) {
          putCell(row, { family: name, qualifier: `q${at}`, timestampMicros, value: Buffer.alloc(0) });
        }
      }
    }
    const cells = cellsAround(row, { family: 'g', qualifiers: ['q77', 'none', 'q123', 'q77', 'q5'] });
    expect(cells.map((cell) => `${cell.family}:${cell.qualifier}@${cell.timestampMicros}`)).toEqual(
      ['q123', 'q5', 'q77'].flatMap((each) => [`g:${each}@2000`, `g:${each}@1000`]),
    );
  });
});

test('an alternation of families that the table lacks is no error, as one that it lacks is', () => {
  expect(() => compiled(chain(family('h'), qualifier('a')))).toThrow('NOT_FOUND');
  expect(compiled(chain(family('h|h'), qualifier('a'))).columns).toBeUndefined();
});

/** Texts that patterns must quote, that sort by unsigned bytes, that begin each other or differ in case. */
const text = fc.constantFrom('', 'a', 'b', 'A', 'ab', 'a|b', 'a.b', 'f', '(', '\\', '\x00', '\n', '\xe9', '\xff\xff');

const quoted = (literal: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(literal, fc.constantFrom('escapes', 'bytes', 'quotes')).map(([each, style]) => {
    if (style === 'quotes' && !each.includes('\\')) return `\\Q${each}\\E`;
    if (style === 'escapes') return each.replaceAll(/[!-/:-@[-^`{-~]/g, '\\$&');
    return Array.from(each, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  });

const alternatives = fc.array(quoted(text), { minLength: 1, maxLength: 5 }).map((each) => each.join('|'));
const qualifierPattern = fc.oneof(
  { weight: 4, arbitrary: alternatives },
  { weight: 1, arbitrary: alternatives.map((each) => `(?i)${each}`) },
  { weight: 1, arbitrary: alternatives.map((each) => `(${each})|b`) },
  { weight: 1, arbitrary: alternatives.map((each) => `${each}|a+`) },
  { weight: 1, arbitrary: fc.constantFrom('.', '\\C*', '[ab]*', '^a$', '(?s)a|.') },
);
const familyFilter = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('f', 'f\\.x', '\\Qg\\E') },
  { weight: 1, arbitrary: fc.constantFrom('f.x', 'f|g', 'f|f', '(?i)F', '(g)', '.*', 'h', 'h|g') },
);

/** Filters whose chains often begin with a family and qualifiers. Some are refused. */
const filters = fc.letrec<{ filter: RowFilter; tail: RowFilter[]; columns: RowFilter }>((tie) => ({
  tail: fc.array(tie('filter'), { maxLength: 2 }),
  columns: fc
    .tuple(familyFilter.map(family), qualifierPattern.map(qualifier), tie('tail'), fc.nat(2))
    .map(([first, second, tail, nesting]) => {
      if (nesting === 1 && tail.length > 0) return chain(chain(first, second), ...tail);
      return nesting === 2 && tail.length > 0 ? chain(first, chain(second, ...tail)) : chain(first, second, ...tail);
    }),
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 2, arbitrary: familyFilter.map(family) },
    { weight: 2, arbitrary: qualifierPattern.map(qualifier) },
    {
      weight: 4,
      arbitrary: fc
        .constantFrom<RowFilter['filter']>(
          SINK.filter,
          PASS_ALL.filter,
          { $case: 'cellsPerRowLimitFilter', value: 2 },
          { $case: 'cellsPerRowOffsetFilter', value: 1 },
          { $case: 'cellsPerColumnLimitFilter', value: 1 },
          { $case: 'valueRegexFilter', value: Buffer.from('0|2') },
          { $case: 'timestampRangeFilter', value: { startTimestampMicros: 2000n, endTimestampMicros: 5000n } },
          { $case: 'rowSampleFilter', value: 0.6 },
          { $case: 'applyLabelTransformer', value: 'label' },
          { $case: 'stripValueTransformer', value: true },
        )
        .map((filter) => ({ filter })),
    },
    { weight: 4, arbitrary: tie('columns') },
    { weight: 1, arbitrary: fc.tuple(tie('filter'), tie('filter')).map((each) => chain(...each)) },
    { weight: 1, arbitrary: fc.tuple(tie('filter'), tie('filter')).map((each) => interleave(...each)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(tie('filter'), tie('filter'), tie('filter'))
        .map(([predicateFilter, trueFilter, falseFilter]) => ({
          filter: { $case: 'condition' as const, value: { predicateFilter, trueFilter, falseFilter } },
        })),
    },
  ),
}));
const anyFilter = fc.oneof(filters.columns, filters.filter);

const anyRow = fc
  .array(
    fc.record({
      family: fc.constantFrom('f', 'f', 'f.x', 'g'),
      qualifier: text,
      timestampMicros: fc.bigInt({ min: 1n, max: 6n }).map((millis) => millis * 1000n),
      value: fc.constantFrom('0', '1', '2').map((value) => Buffer.from(value)),
    }),
    { maxLength: 60, size: 'max' },
  )
  .map((cells): Row => {
    const row: Row = { key: 'r', cells: [] };
    for (const cell of cells) putCell(row, cell);
    return row;
  });

const simpleRule: fc.Arbitrary<GcRule> = fc.oneof(
  fc.integer({ min: 1, max: 3 }).map((versions): GcRule => ({ kind: 'maxVersions', versions })),
  fc.bigInt({ min: 4n, max: 9n }).map((millis): GcRule => ({ kind: 'maxAge', micros: millis * 1000n })),
);
const anyRule = fc.option(
  fc.oneof(
    simpleRule,
    fc
      .tuple(fc.constantFrom('union' as const, 'intersection' as const), fc.array(simpleRule, { maxLength: 2 }))
      .map(([kind, rules]): GcRule => ({ kind, rules })),
  ),
  { nil: undefined },
);

/**
 * The filter with each pattern in a group: it means the same and names no columns. A pattern for one family is left:
 * without qualifiers beside it, it names none, and the service refuses an unknown one.
 */
function grouped({ filter }: RowFilter): RowFilter {
  switch (filter?.$case) {
    case 'columnQualifierRegexFilter':
      return qualifier(filter.value.toString('latin1').replace(/^(\(\?[is]\))?([^]*)$/, '$1(?:$2)'));
    case 'chain':
      return chain(...filter.value.filters.map(grouped));
    case 'interleave':
      return interleave(...filter.value.filters.map(grouped));
    case 'condition': {
      const { predicateFilter, trueFilter, falseFilter } = filter.value;
      const value = {
        predicateFilter: predicateFilter && grouped(predicateFilter),
        trueFilter: trueFilter && grouped(trueFilter),
        falseFilter: falseFilter && grouped(falseFilter),
      };
      return { filter: { $case: 'condition', value } };
    }
    default:
      return { filter };
  }
}

/** What passes, or the status of the refusal. */
function outcome(run: () => readonly ReadCell[]): readonly ReadCell[] | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof GrpcError) return error.message;
    throw error;
  }
}

test('of any row, any filter passes what it passes of all the cells', () => {
  let narrowed = 0;
  let passed = 0;
  const property = fc.property(anyRow, anyFilter, fc.tuple(anyRule, anyRule), (row, filter, [ofF, ofOthers]) => {
    const ruleOf = (name: string): GcRule | undefined => (name === 'f' ? ofF : ofOthers);
    const actual = outcome(() => {
      const one = compiled(filter);
      const cells = passingCells(one, row, ruleOf, NOW_MICROS);
      if (one.columns && one.columns.qualifiers.length < row.cells.length) {
        narrowed += 1;
        if (cells.length > 0) passed += 1;
      }
      return cells;
    });
    const expected = outcome(() => {
      const { pass, columns } = compiled(grouped(filter));
      expect(columns).toBeUndefined();
      return pass(row.key, liveCells(row.cells, ruleOf, NOW_MICROS));
    });
    expect(actual).toEqual(expected);
  });
  fc.assert(property, { seed: 31, numRuns: 3000 });
  expect(narrowed).toBeGreaterThan(500);
  expect(passed).toBeGreaterThan(200);
});
