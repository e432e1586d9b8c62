import { expect, test } from 'vitest';
import type { FamilyType } from '../../../../shared/config/resolved.ts';
import { keptMillis, typeOfFamily, wireType } from '../../../../shared/google/bigtable/families.ts';
import { ColumnFamily, GcRule } from '../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { Type } from '../../../../shared/proto/google/bigtable/admin/v2/types.ts';
import { type Type_Aggregate } from '../../../../shared/proto/google/bigtable/admin/v2/types.ts';

const WORDS: readonly FamilyType[] = ['raw', 'int64-sum', 'int64-min', 'int64-max', 'int64-hll'];

/** As it comes back from the service: through the wire. */
const read = (valueType: Type | undefined): string =>
  typeOfFamily(ColumnFamily.decode(ColumnFamily.encode({ gcRule: undefined, valueType }).finish()));

const bytes = (): Type => ({ kind: { $case: 'bytesType', value: { encoding: undefined } } });
const int64 = (encoding: 'bigEndianBytes' | 'orderedCodeBytes' | 'omitted'): Type => ({
  kind: {
    $case: 'int64Type',
    value: {
      encoding:
        encoding === 'omitted'
          ? undefined
          : {
              encoding:
                encoding === 'bigEndianBytes'
                  ? { $case: encoding, value: { bytesType: undefined } }
                  : { $case: encoding, value: {} },
            },
    },
  },
});

const sumOf = (more: Partial<Type_Aggregate>): Type => ({
  kind: {
    $case: 'aggregateType',
    value: {
      inputType: int64('bigEndianBytes'),
      stateType: undefined,
      aggregator: { $case: 'sum', value: {} },
      ...more,
    },
  },
});

test.each(WORDS)('a family created as %s is read as it', (word) => {
  expect(read(wireType(word))).toBe(word);
});

test('a family of bytes is raw however its type is spelled', () => {
  expect(read(bytes())).toBe('raw');
  expect(read({ kind: { $case: 'bytesType', value: { encoding: { encoding: { $case: 'raw', value: {} } } } } })).toBe(
    'raw',
  );
  expect(read({ kind: undefined })).toBe('raw');
});

test.each([
  ['the state type that the service fills in', sumOf({ stateType: int64('bigEndianBytes') })],
  ['an omitted encoding of the input', sumOf({ inputType: int64('omitted') })],
  [
    'the deprecated bytes type of an encoding',
    sumOf({
      inputType: {
        kind: {
          $case: 'int64Type',
          value: {
            encoding: { encoding: { $case: 'bigEndianBytes', value: { bytesType: { encoding: undefined } } } },
          },
        },
      },
    }),
  ],
])('does not tell types apart by %s', (_what, type) => {
  expect(read(type)).toBe('int64-sum');
});

test('names other types instead of taking them for ours', () => {
  expect(read(sumOf({ inputType: int64('orderedCodeBytes') }))).toBe('another one (sum of int64Type)');
  expect(read(sumOf({ inputType: bytes() }))).toBe('another one (sum of bytesType)');
  expect(read(sumOf({ aggregator: undefined }))).toBe('another one (an unknown aggregate of int64Type)');
  expect(read(int64('omitted'))).toBe('another one (int64Type)');
});

test('a field that this version does not know makes another type', () => {
  const unknown = { _unknownFields: { [(99 << 3) | 0]: [Buffer.from([1])] } };
  const encoding = { encoding: undefined, ...unknown };
  expect(read(sumOf({ inputType: { kind: { $case: 'int64Type', value: { encoding } } } }))).toBe(
    'another one (sum of int64Type)',
  );
  expect(read(sumOf(unknown))).toBe('another one (sum of int64Type)');
  expect(read({ kind: undefined, ...unknown })).toBe('another one (unknown to this version)');
});

const age = (seconds: bigint, nanos = 0): GcRule => ({ rule: { $case: 'maxAge', value: { seconds, nanos } } });
const versions: GcRule = { rule: { $case: 'maxNumVersions', value: 1 } };
const any = (...rules: GcRule[]): GcRule => ({ rule: { $case: 'union', value: { rules } } });
const all = (...rules: GcRule[]): GcRule => ({ rule: { $case: 'intersection', value: { rules } } });

test.each([
  ['no rule', undefined, Infinity],
  ['a rule that says nothing', GcRule.decode(Buffer.alloc(0)), Infinity],
  ['an age', age(8n, 500_000_000), 8500],
  ['a number of versions', versions, 0],
  ['any of two ages', any(age(8n), age(5n)), 5000],
  ['any of an age and a number of versions', any(age(8n), versions), 0],
  ['all of two ages', all(age(8n), age(5n)), 8000],
  ['all of an age and a number of versions', all(age(8n), versions), 8000],
  ['a rule within a rule', all(any(age(8n), age(9n)), age(5n)), 8000],
  ['all of nothing', all(), 0],
  ['a rule of a later version of the API', GcRule.decode(Buffer.from('aa0600', 'hex')), 0],
])('a cell under %s is kept at least that long', (_what, rule, millis) => {
  expect(keptMillis(rule)).toBe(millis);
});
