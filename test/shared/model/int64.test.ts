import fc from 'fast-check';
import { expect, test } from 'vitest';
import { int64OfJson, isInt64 } from '../../../shared/model/int64.ts';
import { anyInt64 } from '../../support/arbitraries.ts';

test('a text keeps every digit over the whole range, and no text outside of it is read', () => {
  fc.assert(
    fc.property(fc.oneof(anyInt64, fc.bigInt()), (value) => {
      expect(int64OfJson(String(value))).toBe(isInt64(value) ? value : undefined);
    }),
    { seed: 52 },
  );
});

test('a number is read exactly where numbers are exact', () => {
  fc.assert(
    fc.property(fc.double(), (value) => {
      expect(int64OfJson(value)).toBe(Number.isSafeInteger(value) ? BigInt(value) : undefined);
    }),
    { seed: 53 },
  );
});
