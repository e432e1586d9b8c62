import { describe, expect, test } from 'vitest';
import { MINIMAL, documentOf, linesOf, problemsOf, resolvedSink, type Options } from '../documents.ts';

const creating = (families: unknown): Options => ({
  ...MINIMAL,
  createDisposition: 'create-if-needed',
  tableCreateOptions: { families },
});

const familiesOf = (options: Options, defaults?: Options) =>
  resolvedSink(options, defaults).tableCreateOptions?.families;

test('a pipeline creates nothing by default', () => {
  expect(resolvedSink(MINIMAL)).not.toHaveProperty('tableCreateOptions');
  expect(resolvedSink({ ...MINIMAL, createDisposition: 'create-never' })).not.toHaveProperty('tableCreateOptions');
});

test('a family is of bytes and collects nothing unless it says so', () => {
  expect(familiesOf(creating({ f: {} }))).toEqual({ f: { type: 'raw' } });
});

test('types and nested garbage collection rules arrive as they are written, ages in milliseconds', () => {
  const families = {
    'a.b-c_D9': { type: 'int64-sum', gcRule: { maxVersions: 2_147_483_647 } },
    nested: {
      gcRule: { union: [{ maxVersions: 1 }, { intersection: [{ maxAge: '30d' }, { maxAge: '1ms' }] }] },
    },
  };
  expect(familiesOf(creating(families))).toEqual({
    'a.b-c_D9': { type: 'int64-sum', gcRule: { kind: 'max-versions', maxVersions: 2_147_483_647 } },
    nested: {
      type: 'raw',
      gcRule: {
        kind: 'union',
        rules: [
          { kind: 'max-versions', maxVersions: 1 },
          {
            kind: 'intersection',
            rules: [
              { kind: 'max-age', maxAgeMillis: 2_592_000_000 },
              { kind: 'max-age', maxAgeMillis: 1 },
            ],
          },
        ],
      },
    },
  });
});

test('the disposition and its options need each other', () => {
  expect(linesOf({ ...MINIMAL, createDisposition: 'create-if-needed' })).toEqual([
    'tableCreateOptions: is required by the createDisposition create-if-needed, unless a mapping declares the families, got nothing',
  ]);
  expect(linesOf({ ...MINIMAL, tableCreateOptions: { families: { f: {} } } })).toEqual([
    'createDisposition: must be "create-if-needed" where tableCreateOptions is set, got "create-never"',
  ]);
});

describe('of a pipeline with a mapping', () => {
  const mapped = (mapping: Options, more: Options = {}): Options => {
    const { kind, topic, project, instance, table } = MINIMAL;
    const place = { kind, topic, project, instance, table };
    return { ...place, mapping: { rowKey: '${k}', ...mapping }, createDisposition: 'create-if-needed', ...more };
  };
  const text = { families: { f: { columns: { s: 'string' } }, constructor: { columns: { t: 'string' } } } };
  const sums = { writeMode: 'aggregate', families: { f: { aggregate: 'int64-sum', columns: { n: 'int64' } } } };

  test('the families are those of the mapping, with the types of their cells', () => {
    expect(familiesOf(mapped(text))).toEqual({ f: { type: 'raw' }, constructor: { type: 'raw' } });
    expect(familiesOf(mapped(sums))).toEqual({ f: { type: 'int64-sum' } });
  });

  test('a family that is named for its rule keeps the type of the mapping, and others may stand beside it', () => {
    const tableCreateOptions = { families: { f: { gcRule: { maxVersions: 1 } }, other: { type: 'int64-max' } } };
    expect(familiesOf(mapped(sums, { tableCreateOptions }))).toEqual({
      f: { type: 'int64-sum', gcRule: { kind: 'max-versions', maxVersions: 1 } },
      other: { type: 'int64-max' },
    });
  });

  test.each([
    [sums, 'raw', 'must be int64-sum or left out, as mapping.families.f.aggregate says, got "raw"'],
    [sums, 'int64-max', 'must be int64-sum or left out, as mapping.families.f.aggregate says, got "int64-max"'],
    [text, 'int64-sum', 'must be raw or left out, because the mapping sets cells of the family, got "int64-sum"'],
  ])('a family of another type is refused: %#', (mapping, type, problem) => {
    expect(linesOf(mapped(mapping, { tableCreateOptions: { families: { f: { type } } } }))).toEqual([
      `tableCreateOptions.families.f.type: ${problem}`,
    ]);
  });
});

const versions = 'must be a whole number, from 1 to 2,147,483,647';
const forms = 'must be a section with one of maxVersions, maxAge, union, intersection';

test.each([
  [undefined, 'tableCreateOptions.families: is required and must be a section with at least one family, by name'],
  [{}, 'tableCreateOptions.families: must be a section with at least one family, by name'],
  [['f'], 'tableCreateOptions.families: must be a section with at least one family, by name'],
  [{ '': {} }, 'tableCreateOptions.families."": a family is named by 1 to 64 letters, digits, "-", "_" and "."'],
  [{ f: null }, 'tableCreateOptions.families.f: must be a section of options'],
  [{ f: { type: 'sum' } }, 'tableCreateOptions.families.f.type: must be one of "raw", "int64-sum"'],
  [{ f: { kind: 'raw' } }, 'tableCreateOptions.families.f.kind: is not an option here (known: type, gcRule)'],
  [{ f: { gcRule: 'maxVersions=1' } }, `tableCreateOptions.families.f.gcRule: ${forms}`],
  [{ f: { gcRule: { maxVersions: 0 } } }, `tableCreateOptions.families.f.gcRule.maxVersions: ${versions}`],
  [{ f: { gcRule: { maxAge: '0ms' } } }, 'tableCreateOptions.families.f.gcRule.maxAge: must be a duration'],
  [
    { f: { gcRule: { union: [{ maxVersions: 1 }] } } },
    'tableCreateOptions.families.f.gcRule.union: must be a list of at least 2 rules',
  ],
  [
    { f: { gcRule: { intersection: { maxVersions: 1 } } } },
    'tableCreateOptions.families.f.gcRule.intersection: must be a list of at least 2 rules',
  ],
  [
    { f: { gcRule: { maxVersions: 1, maxAge: '1d' } } },
    'tableCreateOptions.families.f.gcRule.maxAge: is not an option here (known: maxVersions)',
  ],
])('refuses %j by its rule', (families, rule) => {
  const [line, ...others] = linesOf(creating(families));
  expect(others).toEqual([]);
  expect(line).toContain(rule);
});

test('every problem of every family is reported at once, however deep', () => {
  const families = {
    a: { type: 'text', gcRule: { union: [{ maxVersions: 0 }, { intersection: [{ maxAge: '1' }, { maxAge: 5 }] }] } },
    'b c': { gcRule: { maxVersions: 'one' } },
  };
  expect(problemsOf(documentOf(creating(families))).map(({ path }) => path)).toEqual([
    'pipelines.orders.tableCreateOptions.families.a.type',
    'pipelines.orders.tableCreateOptions.families.a.gcRule.union.0.maxVersions',
    'pipelines.orders.tableCreateOptions.families.a.gcRule.union.1.intersection.0.maxAge',
    'pipelines.orders.tableCreateOptions.families.a.gcRule.union.1.intersection.1.maxAge',
    'pipelines.orders.tableCreateOptions.families."b c"',
    'pipelines.orders.tableCreateOptions.families."b c".gcRule.maxVersions',
  ]);
});

test('a recovery backoff that shrinks is refused', () => {
  const writerOptions = { recoveryInitialBackoff: '2s', recoveryMaxBackoff: '1999ms' };
  expect(linesOf({ ...MINIMAL, writerOptions })).toEqual([
    'writerOptions.recoveryMaxBackoff: must be at least recoveryInitialBackoff (2s), got "1999ms"',
  ]);
});

const DEFAULTS = { createDisposition: 'create-if-needed', tableCreateOptions: { families: { f: {} } } };

test('the defaults may hold both, and a pipeline that chooses create-never takes neither', () => {
  expect(familiesOf(MINIMAL, DEFAULTS)).toEqual({ f: { type: 'raw' } });
  expect(familiesOf({ ...MINIMAL, createDisposition: 'create-never' }, DEFAULTS)).toBeUndefined();
});

test('a pipeline that declares families takes none from the defaults', () => {
  const own = { ...MINIMAL, tableCreateOptions: { families: { g: {} } } };
  expect(familiesOf(own, DEFAULTS)).toEqual({ g: { type: 'raw' } });
});

test('a wrong family of the defaults is reported there, once', () => {
  const defaults = { ...DEFAULTS, tableCreateOptions: { families: { f: { gcRule: {} } } } };
  expect(problemsOf(documentOf(MINIMAL, defaults)).map(({ path }) => path)).toEqual([
    'defaults.tableCreateOptions.families.f.gcRule.maxVersions',
  ]);
});
