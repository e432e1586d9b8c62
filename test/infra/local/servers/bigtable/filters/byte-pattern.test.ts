import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern } from '../../../../../../infra/local/servers/bigtable/filters/byte-pattern.ts';

test.each([
  { pattern: 'abc', matches: ['abc'], misses: ['ab', 'abcd', 'xabc'] },
  { pattern: 'a|bc', matches: ['a', 'bc'], misses: ['abc', 'ac'] },
  { pattern: 'a.c', matches: ['abc', 'a\rc', 'a\xffc'], misses: ['a\nc'] },
  { pattern: '(?s)a.c', matches: ['a\nc'], misses: ['ac'] },
  { pattern: '(?i)AbC', matches: ['abc', 'ABC'], misses: ['abd'] },
  { pattern: 'x(?i:y)z', matches: ['xyz', 'xYz'], misses: ['XYZ'] },
  { pattern: '\\C*', matches: ['', '\n\x00\xff'], misses: [] },
  { pattern: '\\Qa.b\\E+', matches: ['a.b', 'a.bb'], misses: ['axb'] },
  { pattern: '\\Qa.b', matches: ['a.b'], misses: ['axb'] },
  { pattern: '\\x41\\x{42}\\103\\0', matches: ['ABC\x00'], misses: ['ABC'] },
  { pattern: '\\.\\*\\-\\/', matches: ['.*-/'], misses: ['x*-/'] },
  { pattern: 'a{2,3}', matches: ['aa', 'aaa'], misses: ['a', 'aaaa'] },
  { pattern: 'a{2', matches: ['a{2'], misses: ['aa'] },
  { pattern: '\\s', matches: [' ', '\t'], misses: ['\v', '\xa0'] },
  { pattern: '[\\s\\d]', matches: [' ', '7'], misses: ['\xa0', 'x'] },
  { pattern: '[^\\S]', matches: [' '], misses: ['x', '\v'] },
  { pattern: '[[:alpha:]_-]+', matches: ['a_-Z'], misses: ['a1'] },
  { pattern: '[]a]', matches: [']', 'a'], misses: ['b'] },
  { pattern: '[^a-c]', matches: ['d', '\n'], misses: ['a', 'b'] },
  { pattern: '[\\x00-\\x1f\\xff]', matches: ['\x00', '\n', '\xff'], misses: [' '] },
  { pattern: '(?P<year>[0-9]{4})-(\\d\\d)', matches: ['2026-11'], misses: ['26-11'] },
  { pattern: '\\Aab\\z', matches: ['ab'], misses: ['abc'] },
  { pattern: '', matches: [''], misses: ['a'] },
  { pattern: '\\pL+', matches: ['a\xe9'], misses: ['1', '\xd7'] },
  { pattern: '[[:^alpha:]]', matches: ['1', '\n'], misses: ['a'] },
  { pattern: '(?U)a+', matches: ['aa'], misses: [''] },
  { pattern: '\\Q\\C\\E.', matches: ['\\Ca'], misses: ['ab'] },
])('$pattern matches whole texts only', ({ pattern, matches, misses }) => {
  const { test: matched } = compilePattern(pattern);
  expect(matches.filter((text) => !matched(text))).toEqual([]);
  expect(misses.filter((text) => matched(text))).toEqual([]);
});

test.each([
  '[',
  '(',
  'a)|(b',
  'a**',
  '\\',
  '(?=a)',
  '(?<!a)',
  '(a)\\1',
  '\\k',
  '[[:nothing:]]',
  '[a',
  '[\\C]',
  'a{1001}',
])('%s is no RE2 pattern', (pattern) => {
  expect(() => compilePattern(pattern)).toThrow(SyntaxError);
});

test.each([
  { pattern: 'a\\.b\\x00', literals: ['a.b\x00'] },
  { pattern: '', literals: [''] },
  { pattern: '(?s)ab', literals: ['ab'] },
  { pattern: 'a|b', literals: ['a', 'b'] },
  { pattern: 'a||\\Qb|c\\E|a{|', literals: ['a', '', 'b|c', 'a{', ''] },
  { pattern: 'a|a', literals: ['a', 'a'] },
  { pattern: 'a\\|b', literals: ['a|b'] },
  { pattern: 'a.b', literals: undefined },
  { pattern: 'a|b+', literals: undefined },
  { pattern: 'a|(b|c)', literals: undefined },
  { pattern: '(?i)a|b', literals: undefined },
  { pattern: '^a|b$', literals: undefined },
  { pattern: 'a{2}|b', literals: undefined },
])('$pattern is known as these literals: $literals', ({ pattern, literals }) => {
  expect(compilePattern(pattern).literals).toEqual(literals);
});

test('alternatives of literals match what they match as a regular expression', () => {
  const part = fc.constantFrom('a', 'b', '|', '\\|', '\\x61', '\\Qb|\\E', '\\n', '{', '\xff', '-');
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '|', '\n', '{', '\xff', '-'), maxLength: 3 });
  const property = fc.property(fc.array(part, { maxLength: 8 }), text, (parts, candidate) => {
    const pattern = parts.join('');
    const { test: isOne, literals } = compilePattern(pattern);
    const grouped = compilePattern(`(?:${pattern})`);
    expect(grouped.literals).toBeUndefined();
    for (const each of [candidate, ...(literals ?? [])]) expect(isOne(each)).toBe(grouped.test(each));
    expect(literals).toBeDefined();
  });
  fc.assert(property, { seed: 41, numRuns: 1000 });
});

test('nested repetitions take time in proportion to the text', () => {
  expect(compilePattern('(a*)*b').test('a'.repeat(100_000))).toBe(false);
});

test('a pattern that a single alternative makes wrong is refused, whatever the others hold', () => {
  expect(() => compilePattern('a|b|*')).toThrow(SyntaxError);
});
