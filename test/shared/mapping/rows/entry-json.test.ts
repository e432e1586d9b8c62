import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import { entryFromJson as entryAt } from '../../../../shared/mapping/rows/entry-json.ts';
import { anyEntry, anyInt64 } from '../../../support/arbitraries.ts';
import { entryJsonText } from '../../../support/entry-json.ts';

const anySpelling = fc.record({
  names: fc.constantFrom('camelCase' as const, 'snake_case' as const),
  alphabet: fc.constantFrom('base64' as const, 'base64url' as const),
});

const entryFromJson = (json: unknown) => entryAt(json, { publishTimeMicros: 0n });

const read = (text: string) => entryFromJson(JSON.parse(text));

/** An entry of one setCell with these fields, over a good one. */
const setCell = (fields: object) =>
  entryFromJson({ rowKey: 'aw==', mutations: [{ setCell: { familyName: 'f', ...fields } }] });

const mutation = (json: unknown) => entryFromJson({ rowKey: 'aw==', mutations: [json] });

const aggregate = (fields: object) =>
  mutation({
    addToCell: {
      familyName: 'f',
      columnQualifier: { rawValue: 'cQ==' },
      timestamp: { rawTimestampMicros: '0' },
      input: { intValue: '1' },
      ...fields,
    },
  });

test.each([
  ['without a time', {}, 5_000n],
  ['whose time is null, which is how proto JSON says that it is not set', { timestampMicros: null }, 5_000n],
  ['at the epoch, said in so many words', { timestampMicros: '0' }, 0n],
  ['at the time of the server', { timestampMicros: '-1' }, -1n],
])('a cell %s', (_name, time, timestampMicros) => {
  const json = { rowKey: 'aw==', mutations: [{ setCell: { familyName: 'f', ...time } }] };
  expect(entryAt(json, { publishTimeMicros: 5_000n }).mutations).toMatchObject([{ timestampMicros }]);
});

test('proto JSON made of an entry reads back as that entry, in either spelling and either alphabet', () => {
  fc.assert(
    fc.property(anyEntry, anySpelling, (entry, spelling) => {
      expect(read(entryJsonText(entry, spelling))).toEqual(entry);
    }),
    { seed: 12, numRuns: 300 },
  );
});

test('a field that is null is one that is not set', () => {
  const entry = setCell({ columnQualifier: null, timestampMicros: null, value: null });
  expect(entry.mutations).toEqual([
    { kind: 'setCell', family: 'f', qualifier: Buffer.alloc(0), timestampMicros: 0n, value: Buffer.alloc(0) },
  ]);
  expect(mutation({ setCell: null, deleteFromRow: {} }).mutations).toEqual([{ kind: 'deleteFromRow' }]);
});

describe('int64', () => {
  const timestampOf = (timestampMicros: unknown): unknown => setCell({ timestampMicros }).mutations[0];

  test('a string keeps every digit over the whole range', () => {
    fc.assert(
      fc.property(anyInt64, (value) => {
        expect(timestampOf(String(value))).toMatchObject({ timestampMicros: value });
      }),
      { seed: 13 },
    );
  });

  test('a number is taken up to where numbers are exact', () => {
    expect(timestampOf(2 ** 53 - 1)).toMatchObject({ timestampMicros: 2n ** 53n - 1n });
    expect(timestampOf(-1)).toMatchObject({ timestampMicros: -1n });
  });

  test.each([
    ['a number above 2^53', 2 ** 53],
    ['a number far above it', 1e300],
    ['a fraction', 1.5],
    ['a string above the range', '9223372036854775808'],
    ['a string below the range', '-9223372036854775809'],
    ['a string of more digits than an int64 has', '00000000000000000001'],
    ['hexadecimal', '0x10'],
    ['an exponent', '1e3'],
    ['a plus', '+1'],
    ['space', ' 1'],
    ['an empty string', ''],
    ['a boolean', true],
    ['a list', [1]],
  ])('%s is refused', (_name, value) => {
    expect(() => timestampOf(value)).toThrow(
      new RecordError(
        'entry.mutations[0].setCell.timestampMicros: must be a 64-bit integer; write it as a string where it is above 2^53',
      ),
    );
  });
});

describe('bytes', () => {
  const valueOf = (value: unknown): unknown => setCell({ value }).mutations[0];

  test('both alphabets are read, padded or not', () => {
    for (const text of ['-_8=', '-_8', '+/8=', '+/8']) {
      expect(valueOf(text)).toMatchObject({ value: Buffer.from([0xfb, 0xff]) });
    }
  });

  test.each([
    ['a character of no alphabet', 'aw*='],
    ['space', 'aw== '],
    ['padding in the middle', 'a=w='],
    ['one character, which is less than a byte', 'a'],
    ['a rest of one character', 'abcde'],
    ['a rest of one character with padding', 'abcde==='],
    ['too little padding', 'aw='],
    ['padding where none is due', 'abcd=='],
    ['padding alone', '=='],
    ['a number', 7],
    ['a list of bytes', [1, 2]],
  ])('%s is refused, because what could not be read would be lost', (_name, value) => {
    expect(() => valueOf(value)).toThrow(new RecordError('entry.mutations[0].setCell.value: must be base64'));
  });
});

describe('a different row is never written in silence', () => {
  test.each([
    [
      'a field that does not exist',
      () => setCell({ timestamp: '1' }),
      'entry.mutations[0].setCell: has a field it does not know; it takes familyName, columnQualifier, timestampMicros, value',
    ],
    ['a misspelled field', () => setCell({ timestampmicros: '1' }), 'has a field it does not know'],
    ['a field of the prototype', () => setCell({ constructor: '1' }), 'has a field it does not know'],
    [
      'a field in both spellings',
      () => setCell({ column_qualifier: 'cQ==', columnQualifier: 'cQ==' }),
      'entry.mutations[0].setCell.columnQualifier: is given twice',
    ],
    [
      'a field of the entry',
      () => entryFromJson({ rowKey: 'aw==', mutations: [{ deleteFromRow: {} }], table: 't' }),
      'entry: has a field it does not know; it takes rowKey, mutations',
    ],
    [
      'a field where there is none',
      () => mutation({ deleteFromRow: { familyName: 'f' } }),
      'entry.mutations[0].deleteFromRow: has a field it does not know; it takes none',
    ],
    ['an unknown kind', () => mutation({ setCells: {} }), 'entry.mutations[0]: has a field it does not know'],
    [
      'two kinds',
      () => mutation({ deleteFromRow: {}, deleteFromFamily: { familyName: 'f' } }),
      'entry.mutations[0]: must name exactly one of setCell, addToCell',
    ],
    ['no kind', () => mutation({}), 'entry.mutations[0]: must name exactly one of'],
    [
      'no mutation',
      () => entryFromJson({ rowKey: 'aw==', mutations: [] }),
      'entry.mutations: must be an array with at least one mutation',
    ],
    [
      'no mutations',
      () => entryFromJson({ rowKey: 'aw==' }),
      'entry.mutations: must be an array with at least one mutation',
    ],
    ['a mutation that is a text', () => mutation('deleteFromRow'), 'entry.mutations[0]: must be an object'],
    [
      'a kind that is a list',
      () => mutation({ deleteFromRow: [] }),
      'entry.mutations[0].deleteFromRow: must be an object',
    ],
    [
      'a family that is a number',
      () => setCell({ familyName: 7 }),
      'entry.mutations[0].setCell.familyName: must be a string',
    ],
    [
      'an aggregate without qualifier',
      () => aggregate({ columnQualifier: undefined }),
      'entry.mutations[0].addToCell.columnQualifier: must be an object',
    ],
    [
      'an aggregate with an empty qualifier',
      () => aggregate({ columnQualifier: {} }),
      'entry.mutations[0].addToCell.columnQualifier: must have rawValue',
    ],
    [
      'an aggregate with an empty timestamp',
      () => aggregate({ timestamp: {} }),
      'entry.mutations[0].addToCell.timestamp: must have rawTimestampMicros',
    ],
    [
      'an aggregate without input',
      () => aggregate({ input: {} }),
      'entry.mutations[0].addToCell.input: must be exactly one of rawValue, bytesValue, intValue',
    ],
    [
      'an aggregate with two inputs',
      () => aggregate({ input: { intValue: '1', rawValue: 'aw==' } }),
      'entry.mutations[0].addToCell.input: must be exactly one of',
    ],
  ])('%s', (_name, make, message) => {
    expect(make).toThrow(RecordError);
    expect(make).toThrow(message);
  });

  test.each([null, undefined, 7, 'text', true, [[]]].map((json) => [json]))('%j is no entry', (json) => {
    expect(() => entryFromJson(json)).toThrow(new RecordError('entry: must be an object'));
  });
});

test('no error quotes a key, a value, a family or a field name of the record', () => {
  const secret = 'planted secret';
  const wrong: unknown[] = [
    { rowKey: secret, mutations: [{ deleteFromRow: {} }] },
    { rowKey: 'aw==', mutations: secret },
    { rowKey: 'aw==', mutations: [secret] },
    { rowKey: 'aw==', [secret]: 1, mutations: [{ deleteFromRow: {} }] },
    { rowKey: 'aw==', mutations: [{ [secret]: {} }] },
    { rowKey: 'aw==', mutations: [{ setCell: { [secret]: 1 } }] },
    { rowKey: 'aw==', mutations: [{ setCell: { familyName: [secret] } }] },
    { rowKey: 'aw==', mutations: [{ setCell: { familyName: 'f', value: secret } }] },
    { rowKey: 'aw==', mutations: [{ setCell: { familyName: 'f', timestampMicros: secret } }] },
  ];
  for (const json of wrong) {
    expect(() => entryFromJson(json)).toThrow(RecordError);
    expect(() => entryFromJson(json)).not.toThrow(secret);
  }
});

test('any JSON is an entry or ends in a RecordError', () => {
  const anyField = fc.constantFrom('rowKey', 'row_key', 'mutations', 'setCell', 'deleteFromRow', 'familyName', 'x');
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, '', 'aw==', 7, true),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(anyField, tie('tree'), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (json) => {
      try {
        entryFromJson(json);
      } catch (error) {
        expect(error).toBeInstanceOf(RecordError);
      }
    }),
    { seed: 14, numRuns: 1000 },
  );
});
