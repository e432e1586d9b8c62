import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileReadRow } from '../../../../shared/mapping/backwards/read-row.ts';
import { backwardsProblems } from '../../../../shared/mapping/backwards/problems.ts';
import { compileMapping } from '../../../../shared/mapping/compile-mapping.ts';
import { resolveMapping } from '../../../../shared/mapping/declared/resolve.ts';
import type { ResolvedMapping } from '../../../../shared/mapping/declared/resolved.ts';
import { RecordError } from '../../../../shared/base/errors.ts';
import type { Cell, Row } from '../../../../shared/model/row.ts';
import { jsonRecord } from '../records.ts';

/** Written by a mapping, read backwards by it, written again: the same row. */

function mappingOf(written: object): ResolvedMapping {
  const { mapping, problems } = resolveMapping(written, 'mapping');
  expect(problems).toEqual([]);
  if (!mapping) throw new Error('no mapping');
  expect(backwardsProblems(mapping, 'mapping')).toEqual([]);
  return mapping;
}

const context = { publishTimeMicros: 1_764_455_172_123_000n };

/** The row that a record becomes in an empty table; undefined where the mapping refuses it. */
async function writer(mapping: ResolvedMapping): Promise<(record: string) => Row | undefined> {
  const { prepare } = await compileMapping(mapping);
  return (record) => {
    try {
      const written = prepare(jsonRecord(record), context)?.write();
      if (written?.kind === 'readModifyWrite' || !written) throw new Error('not a write of cells');
      const { rowKey, mutations } =
        written.kind === 'entry'
          ? written.entry
          : { rowKey: written.request.rowKey, mutations: written.request.otherwise };
      const cells = mutations.flatMap((mutation): Cell[] =>
        mutation.kind === 'setCell' ? [{ ...mutation, labels: [] }] : [],
      );
      return {
        key: rowKey,
        cells: cells.map(({ family, qualifier, timestampMicros, value, labels }) => ({
          family,
          qualifier,
          timestampMicros,
          value,
          labels,
        })),
        bytes: 1,
      };
    } catch (error) {
      if (error instanceof RecordError) return undefined;
      throw error;
    }
  };
}

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('null', '', '0', '#', '%23', '"\\'));
const integer = (bits: number): fc.Arbitrary<string> =>
  fc.bigInt(-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n).map(String);
const quoted = (value: unknown): string => JSON.stringify(value);
const number = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => (Object.is(value, -0) ? '-0' : String(value)));
const float = fc.oneof(number, fc.constantFrom('"NaN"', '"Infinity"', '"-Infinity"'));
const time = fc
  .integer({ min: 0, max: 86_399_999 })
  .map((millis) => quoted(new Date(millis).toISOString().slice(11, -1)));
const instant = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });

/** Every type, with JSON texts of its values. */
const TYPES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  string: text.map(quoted),
  boolean: fc.boolean().map(String),
  bytes: fc.uint8Array({ maxLength: 8 }).map((bytes) => quoted(Buffer.from(bytes).toString('base64'))),
  int8: integer(8),
  int16: integer(16),
  int32: integer(32),
  int64: integer(64),
  float: fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }).map(String), fc.constant('-0')),
  double: float,
  'decimal(12,3)': fc
    .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.integer({ min: 0, max: 999 }))
    .map(([whole, part]) => `${whole}.${String(part).padStart(3, '0')}`),
  date: fc.integer({ min: -1_000_000, max: 1_000_000 }).map(String),
  time,
  timestamp: instant.map((date) => quoted(date.toISOString())),
  'interval-year-month': integer(32),
  'interval-day-second': integer(64),
  raw: text.map(quoted),
  json: fc.json({ maxDepth: 2 }),
};

const orNull = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 4, arbitrary: value }, fc.constant('null'));

const columnsOf = (encoding?: 'text'): object =>
  Object.fromEntries(
    Object.keys(TYPES).map((type) => [
      type,
      { type, field: quoted(type), ...(encoding && type !== 'raw' && type !== 'json' && { encoding }) },
    ]),
  );

/** Members `"type": value` of every type. */
const membersOf = (may: (value: fc.Arbitrary<string>) => fc.Arbitrary<string>) =>
  fc.record(Object.fromEntries(Object.entries(TYPES).map(([type, value]) => [type, may(value)])));
const MEMBERS = { nullable: membersOf(orNull), whole: membersOf((value) => value.filter((json) => json !== 'null')) };
const objectOf = (values: Readonly<Record<string, string>>): string =>
  `{${Object.entries(values)
    .map(([name, value]) => `${quoted(name)}:${value}`)
    .join(',')}}`;

const keys = fc.record({ id: text.map(quoted), n: fc.nat().map(String), at: fc.nat().map(String) });

const NULLS = ['encode', 'ignore', 'delete', 'reject'] as const;

interface Case {
  readonly name: string;
  readonly mapping: object;
  readonly record: fc.Arbitrary<string>;
}

const CASES: readonly Case[] = [
  ...NULLS.flatMap((onNull) =>
    [undefined, 'text' as const].map((encoding) => ({
      name: `every type, nulls ${onNull}, ${encoding ?? 'binary'}`,
      mapping: { rowKey: '${id}#${n|pad:12}', onNull, families: { cf: { columns: columnsOf(encoding) } } },
      record: fc
        .tuple(keys, MEMBERS[onNull === 'reject' ? 'whole' : 'nullable'])
        .map(([key, values]) => objectOf({ ...key, ...values })),
    })),
  ),
  {
    name: 'objects of families, one of them shared',
    mapping: {
      rowKey: { template: '${id}#${n}', onDelimiter: 'escape' },
      families: {
        a: { field: 'after.profile', columns: { x: 'string', y: { type: 'int64', onNull: 'ignore' } } },
        b: { field: 'after.profile', columns: { z: { type: 'string', onNull: 'ignore' } } },
        c: { columns: { w: { type: 'string', field: 'after.w', onMissing: 'null' } } },
      },
    },
    record: fc
      .tuple(
        keys,
        fc.option(
          fc.record({
            x: orNull(TYPES.string as fc.Arbitrary<string>),
            y: orNull(integer(64)),
            z: orNull(text.map(quoted)),
          }),
        ),
        orNull(text.map(quoted)),
      )
      .map(([key, profile, w]) =>
        objectOf({ ...key, after: objectOf({ profile: profile ? objectOf(profile) : 'null', w }) }),
      ),
  },
  {
    name: 'columns that the data names, and a timestamp of its own',
    mapping: {
      rowKey: { field: 'n', type: 'int64' },
      writeMode: 'keep-latest',
      timestamp: { field: 'at', unit: 'millis' },
      families: { d: { dynamic: { field: 'tags', type: 'string', update: 'replace' } } },
    },
    record: fc
      .tuple(keys, fc.dictionary(text, orNull(text.map(quoted)), { maxKeys: 4 }))
      .map(([key, tags]) => objectOf({ ...key, tags: objectOf(tags) })),
  },
  {
    name: 'a key of inverted times and salts, in a row that is new',
    mapping: {
      rowKey: '${n|salt:16}-${at|timestamp:millis|inverted:millis}${id|hash:6}${n|number}#${id|reverse}',
      writeMode: 'insert-if-absent',
      families: { cf: { columns: { id: 'string' } } },
    },
    record: keys.map((key) => objectOf(key)),
  },
];

test.each(CASES)(
  'a row that a mapping wrote is the same row when it is read backwards and written again: $name',
  async ({ mapping: written, record }) => {
    const mapping = mappingOf(written);
    const write = await writer(mapping);
    const read = compileReadRow(mapping, 'reject');
    let rows = 0;
    fc.assert(
      fc.property(record, (json) => {
        const row = write(json);
        // No cell, no row.
        if (!row || row.cells.length === 0) return;
        rows += 1;
        expect(write(read(row))).toEqual(row);
      }),
      { numRuns: 300 },
    );
    expect(rows).toBeGreaterThan(20);
  },
);
