import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonBoundsRule } from '../../../shared/base/json-bounds.ts';
import { cpuMillis } from '../../support/cpu-time.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('the depth of every JSON is told exactly, whatever its texts hold', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      const depth = depthOf(value);
      expect(jsonBoundsRule(text, { maxDepth: depth, maxValues: text.length })).toBeUndefined();
      if (depth === 0) return;
      expect(jsonBoundsRule(text, { maxDepth: depth - 1, maxValues: text.length })).toBe(
        `must not be nested deeper than ${depth - 1}`,
      );
    }),
  );
});

test.each([
  ['[[],[],{}]', 6],
  ['[1,2,3]', 3],
  [String.raw`{"a,[{":"\"[[[","b\\":1}`, 2],
  ['"a', 0],
  ['', 0],
])('%s holds %i values', (text, values) => {
  expect(jsonBoundsRule(text, { maxDepth: 9, maxValues: values })).toBeUndefined();
  if (values > 0) {
    const rule = `must not hold more than ${values - 1} values`;
    expect(jsonBoundsRule(text, { maxDepth: 9, maxValues: values - 1 })).toBe(rule);
  }
});

test.each([
  ['brackets', '['.repeat(14_000_000)],
  ['quotes', '"'.repeat(14_000_000)],
  ['escaped quotes', `"${String.raw`\"`.repeat(7_000_000)}`],
  ['backslashes', `"${'\\'.repeat(14_000_000)}"`],
  ['one long text', `"${'a'.repeat(14_000_000)}"`],
])('14 MB of %s are looked at within two seconds of CPU', (_name, text) => {
  const spent = cpuMillis(() => {
    jsonBoundsRule(text, { maxDepth: 2 ** 31, maxValues: 2 ** 31 });
  });
  expect(spent).toBeLessThan(2000);
});
