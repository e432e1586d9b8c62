import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import { countMembers, countNames, repeatedMember } from '../../../../shared/mapping/formats/json-members.ts';
import { parseJson, parsePlain } from '../../../../shared/mapping/formats/json-text.ts';
import type { FieldValue } from '../../../../shared/mapping/values/field-value.ts';

const messageOf = (parse: () => unknown): string | undefined => {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof RecordError) return error.message;
    throw error;
  }
};

describe('a member that is there twice refuses the text by the way to it', () => {
  const RULE = 'must be there once, got two members of that name';
  test.each([
    ['at the top', '{"id":"a","id":"b"}', 'id'],
    ['with the same value', '{"id":1,"id":1}', 'id'],
    ['in a nested object', '{"a":{"b":1,"c":{"d":1,"d":2}}}', 'a.c.d'],
    ['in an object of a list', '[{"x":1},{"x":1,"y":[],"x":2}]', '1.x'],
    ['spelt with an escape', String.raw`{"id":1,"\u0069d":2}`, 'id'],
    ['by the name __proto__', '{"__proto__":1,"__proto__":{"a":1}}', '__proto__'],
    ['by an empty name', '{"":1,"":2}', ''],
    ['behind numbers that keep their text', '{"n":1.50,"n":1e400}', 'n'],
    ['beside a text that takes the slow way', '{"t":"\u007f","t":"x"}', 't'],
    ['with white space before its colon', '{"a" : 1 , "a"\n:\t2}', 'a'],
    ['beside braces and quotes in texts', String.raw`{"t":"{\"a\":[\\","a":1,"a":2}`, 'a'],
  ])('%s', (_name, text, path) => {
    expect(messageOf(() => parseJson(text))).toBe(`${path}: ${RULE}`);
    expect(messageOf(() => parsePlain(text))).toBe(`${path}: ${RULE}`);
  });

  test('and a way of any length is cut', () => {
    const name = 'n'.repeat(100_000);
    expect(messageOf(() => parseJson(`{"${name}":1,"${name}":2}`))).toHaveLength(200 + `: ${RULE}`.length);
  });
});

test.each([
  ['{"a":{"a":{"a":1}},"b":{"a":1}}', 'nested in each other and beside each other'],
  ['[{"a":1},{"a":1}]', 'in the objects of a list'],
  ['{"a":"a","b":"a\\":1,\\"a","c:":":"}', 'as values, and colons in texts'],
  ['{"a":1,"A":1,"á":1}', 'of other letters'],
])('%s is taken: the same name may stand %s', (text) => {
  expect(messageOf(() => parseJson(text))).toBeUndefined();
});

test('a text that JSON.stringify writes is never refused, and one with a member more always is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }), fc.nat(), (value, pick) => {
      const text = JSON.stringify(value);
      const tree = JSON.parse(text) as FieldValue;
      expect(countNames(text)).toBe(countMembers(tree));
      expect(repeatedMember(text)).toBeUndefined();
      expect(messageOf(() => parseJson(text))).toBeUndefined();
      const twice = withMemberTwice(text, pick);
      if (twice !== undefined) expect(messageOf(() => parseJson(twice))).toContain('must be there once');
    }),
    { seed: 11, numRuns: 500 },
  );
});

/** The text with an object in the place of one of its values, and one name of that twice. */
function withMemberTwice(text: string, pick: number): string | undefined {
  const places = [...text.matchAll(/(?<=[:[,])(?:true|false|null|-?\d+)(?=[\]},])/g)].filter(
    // Not inside a text: an even number of quotes that are not escaped stands before it.
    ({ index }) => (text.slice(0, index).replaceAll(/\\./gs, '').match(/"/g) ?? []).length % 2 === 0,
  );
  const place = places[pick % Math.max(1, places.length)];
  if (!place) return undefined;
  const { index, 0: value } = place;
  return `${text.slice(0, index)}{"k":1,"l":${value},"k":${value}}${text.slice(index + value.length)}`;
}

test('a tree is bounded in its depth, whatever of it is read', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  expect(messageOf(() => parseJson(nested(200)))).toBeUndefined();
  for (const depth of [201, 5_000_000]) {
    expect(messageOf(() => parseJson(nested(depth)))).toBe('record: must not be nested deeper than 200, got more');
  }
});
