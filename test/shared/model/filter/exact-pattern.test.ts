import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { familyPattern, otherFamiliesPattern } from '../../../../shared/model/filter/exact-pattern.ts';

/** Names that a family may have: 1 to 64 of these characters. Few of them, so that names often begin alike. */
const character = fc.constantFrom('a', 'b', '.', '-', '_', 'Z', '9');
const name = fc.string({ unit: character, minLength: 1, maxLength: 64 });

/** As the service reads a pattern: over bytes, and the whole text. */
const matches = (pattern: string, text: string): boolean =>
  RE2JS.compile(Buffer.from(pattern).toString('latin1')).testExact(Buffer.from(text).toString('latin1'));

describe('the pattern of every family but one', () => {
  test('matches any name but that one, shorter, longer and unlike it in the middle', () => {
    fc.assert(
      fc.property(name, name, fc.nat(64), (family, other, cut) => {
        const pattern = otherFamiliesPattern(family);
        const candidates = [
          family,
          other,
          family + other,
          other + family,
          family.slice(0, cut),
          family.slice(0, cut) + other,
          family.slice(0, cut) + other + family.slice(cut + 1),
        ];
        for (const candidate of candidates.filter((text) => text !== '')) {
          expect(matches(pattern, candidate)).toBe(candidate !== family);
        }
      }),
    );
  });

  test('is the opposite of the pattern of that family, whatever bytes the names are of', () => {
    const text = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }).filter((each) => !/[\n\r]/.test(each));
    fc.assert(
      fc.property(text, text, (family, other) => {
        expect(matches(otherFamiliesPattern(family), other)).toBe(!matches(familyPattern(family), other));
        expect(matches(otherFamiliesPattern(family), family)).toBe(false);
      }),
    );
  });

  test('of the longest name takes a small part of the 20,480 bytes of a filter, and holds no colon, which none may', () => {
    const pattern = otherFamiliesPattern('-'.repeat(64));
    expect(pattern.length).toBeLessThan(1000);
    expect(pattern).not.toContain(':');
  });
});
