import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { cellBytes, textBytes } from '../../../shared/model/row.ts';

const varint = (value: bigint): number => new BinaryWriter().uint64(BigInt.asUintN(64, value)).finish().length;

test('the estimate of a cell counts what protobuf takes for its parts without tags', () => {
  const length = fc.integer({ min: 0, max: 300_000_000 });
  const anyTime = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.integer({ min: 0, max: 62 }).chain((bits) => fc.constantFrom(2n ** BigInt(bits), 2n ** BigInt(bits) - 1n)),
  );
  fc.assert(
    fc.property(length, length, anyTime, length, (family, qualifier, micros, value) => {
      const lengths = [family, qualifier, value].reduce((sum, each) => sum + varint(BigInt(each)) + each, 0);
      expect(cellBytes(family, qualifier, micros, value)).toBe(lengths + varint(micros));
      const isExact = BigInt(Number(micros)) === micros && Number.isSafeInteger(Number(micros));
      if (isExact) expect(cellBytes(family, qualifier, Number(micros), value)).toBe(lengths + varint(micros));
      expect(textBytes(value)).toBe(varint(BigInt(value)) + value);
    }),
  );
});
