import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FieldValue, NumberText } from '../../../../shared/mapping/values/field-value.ts';
import { parseJson, parseMarked, parsePlain } from '../../../../shared/mapping/formats/json-text.ts';
import { cpuMillis } from '../../../support/cpu-time.ts';

/** The digits that a parsed number stands for. */
const textOf = (value: FieldValue): string =>
  value instanceof NumberText
    ? value.text
    : typeof value === 'number'
      ? String(value)
      : `not a number: ${typeof value}`;

const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,30}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,30}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?\d{1,3}$/)),
  )
  .map((parts) => parts.join(''));

describe('numbers', () => {
  test.each([
    '10000000001922600',
    '9223372036854775807',
    '-9223372036854775808',
    '1e400',
    '-1E-400',
    '0.1000000000000000055511151231257827',
    '0.10',
    '1.0',
    '-0',
    '999999999999999',
    '0',
    '-7',
  ])('%s keeps its text', (text) => {
    expect(textOf(parseJson(text))).toBe(text);
    expect(parseJson(`{"a": ${text} ,"b":[${text}]}`)).toEqual({ a: parseJson(text), b: [parseJson(text)] });
  });

  test('every JSON number keeps its text, wherever it stands and whatever texts stand beside it', () => {
    fc.assert(
      fc.property(
        numberText,
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', ' ', '\n\t'),
        (text, beside, space) => {
          const document = `{${JSON.stringify(beside)}:${space}${text}${space},"list":[${JSON.stringify(beside)},${text}]}`;
          const parsed = parseJson(document) as Record<string, FieldValue>;
          const list = parsed.list as readonly FieldValue[];
          expect(textOf(list[1] ?? null)).toBe(text);
          expect(list[0]).toBe(beside);
          if (beside !== 'list') expect(textOf(parsed[beside] ?? null)).toBe(text);
        },
      ),
      { seed: 20261129, numRuns: 2000 },
    );
  });

  test('integers of up to 15 digits stay plain numbers', () => {
    expect(parseJson('[1, -15, 999999999999999]')).toEqual([1, -15, 999999999999999]);
  });
});

describe('texts', () => {
  test.each(['\u007f1.5', '\u007f', '\u007f\u007fx', '\\u007f', 'a"1.5', '\\', '\\"', '1.5', '{"a":1.5}'])(
    '%j comes back as it was, beside numbers that are marked',
    (text) => {
      expect(parseJson(`[${JSON.stringify(text)},1.5]`)).toEqual([text, new NumberText('1.5')]);
    },
  );

  test('an escaped DEL is a text, not a number', () => {
    expect(parseJson(String.raw`["\u007F1.5", 2.5]`)).toEqual(['\u007f1.5', new NumberText('2.5')]);
  });
});

test('everything that JSON.parse takes is taken with the same shape, and everything it refuses is refused', () => {
  const pieces = fc.constantFrom(
    '{', '}', '[', ']', ',', ':', '"a"', '"\\""', '1.5', '01.5', '1.', '-', '-1.5', '1e5', '1e', 'true', 'nul', ' ',
    '12345678901234567890', '0123456789012345678', '"', '\\', '\u007f',
  ); // prettier-ignore
  const shape = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (_, member: unknown) =>
        member instanceof NumberText ? 0 : typeof member === 'number' ? 0 : member,
      ),
    );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        expect(() => parseJson(text)).toThrow(SyntaxError);
        return;
      }
      expect(shape(parseJson(text))).toEqual(shape(expected));
    }),
    { seed: 20261129, numRuns: 20_000 },
  );
});

test.each([
  '{1.5:2}',
  '{1.5 : 2}',
  '[1.5 2.5]',
  '[1.5.2]',
  '[01.5]',
  '[1.5"x"]',
  '{"a"1.5}',
  '[-]',
  '1.5e',
  '"1.5',
  '[1.5}',
])('marking makes no JSON of %s', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('a member named __proto__ is a member', () => {
  const parsed = parseJson('{"__proto__": {"x": 1.5}}');
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  expect(Object.keys(parsed as object)).toEqual(['__proto__']);
});

test('nesting deeper than any record has is refused, not a stack overflow', () => {
  expect(() => parseJson('['.repeat(201) + ']'.repeat(201))).toThrow('must not be nested deeper than 200');
  expect(() => parseJson('['.repeat(200) + ']'.repeat(200))).not.toThrow();
});

test.each([
  ['a marked tree', parseMarked],
  ['a plain value', parsePlain],
])('9 MB of brackets are too deep for %s before they are parsed, in less than a second of CPU', (_name, parse) => {
  const spent = cpuMillis(() => {
    expect(() => parse('['.repeat(9_000_000))).toThrow('must not be nested deeper than 200');
  });
  expect(spent).toBeLessThan(1000);
});
