import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileFilter } from '../../../../../../infra/local/servers/pubsub/delivery/filter.ts';

const MATCHES: readonly (readonly [filter: string, attributes: Record<string, string>, isMatch: boolean])[] = [
  ['', {}, true],
  ['  ', { a: '1' }, true],
  ['attributes:a', { a: '' }, true],
  ['attributes:a', { b: '1' }, false],
  ['attributes.a = "1"', { a: '1' }, true],
  ['attributes.a="1"', { a: '2' }, false],
  ['attributes.a = ""', {}, false],
  ['attributes.a != "1"', { a: '2' }, true],
  ['attributes.a != "1"', { a: '1' }, false],
  ['attributes.a != "1"', {}, true],
  ['hasPrefix(attributes.a, "eu-")', { a: 'eu-west' }, true],
  ['hasPrefix(attributes.a, "eu-")', { a: 'us-east' }, false],
  ['hasPrefix(attributes.a, "")', {}, false],
  ['NOT attributes:a', {}, true],
  ['-attributes:a', { a: '1' }, false],
  ['NOT NOT attributes:a', { a: '1' }, true],
  ['attributes:a AND attributes:b', { a: '1', b: '1' }, true],
  ['attributes:a AND attributes:b', { a: '1' }, false],
  ['attributes:a OR attributes:b OR attributes:c', { c: '1' }, true],
  ['attributes:a AND (attributes:b OR attributes:c)', { a: '1', c: '1' }, true],
  ['NOT (attributes:a OR attributes:b)', { c: '1' }, true],
  ['attributes.my-key = "1"', { 'my-key': '1' }, true],
  ['attributes:"iana.org/language tag"', { 'iana.org/language tag': 'en' }, true],
  ['attributes."AND" = "OR"', { AND: 'OR' }, true],
  [String.raw`attributes.a = "say \"hi\"\n"`, { a: 'say "hi"\n' }, true],
  [String.raw`attributes.a = "\x41\u00e9\101"`, { a: 'AéA' }, true],
  ['attributes:toString', {}, false],
];

test.each(MATCHES)('the filter %j on %j is %s', (filter, attributes, isMatch) => {
  expect(compileFilter(filter)(attributes)).toBe(isMatch);
});

test.each([
  ['attributes', 'expected "." at character 11, got the end'],
  ['attributes.a', 'expected "!=" at character 13, got the end'],
  ['attributes.a = 1', 'expected a quoted string at character 16, got 1'],
  ['attributes.a = "1', 'nothing starts with " at character 16'],
  [String.raw`attributes.a = "\q"`, String.raw`\q in the string at character 16 is no escape`],
  ['data = "1"', 'expected "attributes" at character 1, got data'],
  ['hasSuffix(attributes.a, "1")', 'expected "attributes" at character 1, got hasSuffix'],
  ['attributes:a AND', 'expected "attributes" at character 17, got the end'],
  ['attributes:a and attributes:b', 'expected AND, OR or the end at character 14, got and'],
  ['attributes:a AND attributes:b OR attributes:c', 'expected parentheses where AND and OR meet at character 31'],
  ['(attributes:a', 'expected ")" at character 14, got the end'],
  [`attributes.a = "${'x'.repeat(256)}"`, 'at most 256 bytes, got 273'],
])('the filter %j is refused: %s', (filter, rule) => {
  expect(() => compileFilter(filter)).toThrow(`INVALID_ARGUMENT: filter: ${rule}`);
});

/** An expression and what it means, built side by side. */
interface Pair {
  readonly text: string;
  readonly holds: (attributes: Record<string, string>) => boolean;
}

const key = fc.constantFrom('a', 'b', 'c');
const value = fc.constantFrom('', 'x', 'xy', 'y"\\');
const leaf: fc.Arbitrary<Pair> = fc.oneof(
  key.map((k) => ({ text: `attributes:${k}`, holds: (attributes) => k in attributes }) satisfies Pair),
  fc
    .tuple(key, value)
    .map(([k, v]) => ({ text: `attributes.${k} = ${JSON.stringify(v)}`, holds: (at) => at[k] === v }) satisfies Pair),
  fc
    .tuple(key, value)
    .map(([k, v]) => ({ text: `attributes.${k}!=${JSON.stringify(v)}`, holds: (at) => at[k] !== v }) satisfies Pair),
  fc.tuple(key, value).map(
    ([k, v]) =>
      ({
        text: `hasPrefix(attributes.${k},${JSON.stringify(v)})`,
        holds: (at) => at[k]?.startsWith(v) ?? false,
      }) satisfies Pair,
  ),
);
const { expression } = fc.letrec<{ expression: Pair }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    tie('expression').map(({ text, holds }) => ({ text: `NOT (${text})`, holds: (at) => !holds(at) }) satisfies Pair),
    fc
      .tuple(fc.constantFrom('AND', 'OR'), fc.array(tie('expression'), { minLength: 2, maxLength: 3 }))
      .map(([joint, parts]) => ({
        text: parts.map(({ text }) => `(${text})`).join(` ${joint} `),
        holds: (at: Record<string, string>) =>
          joint === 'AND' ? parts.every(({ holds }) => holds(at)) : parts.some(({ holds }) => holds(at)),
      })),
  ),
}));

test('a compiled filter means what its expression says', () => {
  fc.assert(
    fc.property(
      expression.filter(({ text }) => Buffer.byteLength(text) <= 256),
      fc.dictionary(key, value),
      ({ text, holds }, attributes) => {
        expect(compileFilter(text)(attributes)).toBe(holds({ ...attributes }));
      },
    ),
  );
});
