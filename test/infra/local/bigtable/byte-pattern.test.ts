import { expect, test } from 'vitest';
import { compilePattern } from '../../../../infra/local/bigtable/byte-pattern.ts';

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
])('$pattern matches whole texts only', ({ pattern, matches, misses }) => {
  const { test: matched } = compilePattern(pattern);
  expect(matches.filter((text) => !matched(text))).toEqual([]);
  expect(misses.filter((text) => matched(text))).toEqual([]);
});

test.each(['[', '(', 'a**', '\\', '(?=a)', '(?<!a)', '(a)\\1', '\\pL', '\\k', '[[:nothing:]]', '[a'])(
  '%s is no RE2 pattern, or one that is not translated',
  (pattern) => {
    expect(() => compilePattern(pattern)).toThrow(SyntaxError);
  },
);

test.each([
  { pattern: 'a\\.b\\x00', literals: ['a.b\x00'] },
  { pattern: 'abc|de|', literals: ['abc', 'de', ''] },
  { pattern: '\\Qa|b\\E|c\\|d', literals: ['a|b', 'c|d'] },
  { pattern: '', literals: [''] },
])('$pattern is known as all the texts that it matches', ({ pattern, literals }) => {
  expect([...(compilePattern(pattern).literals ?? [])]).toEqual(literals);
});

test.each(['a.b', '(?i)ab', '(?i)a|b', 'x(a|b)', 'a|b+', '^a|b', 'a|[b]'])(
  'what %s matches is not listed',
  (pattern) => {
    expect(compilePattern(pattern).literals).toBeUndefined();
  },
);
