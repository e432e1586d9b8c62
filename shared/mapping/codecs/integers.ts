import { integerOf } from '../values/decimal.ts';
import { type FieldValue, refuseValue } from '../values/field-value.ts';
import { expectLength } from './bytes.ts';
import type { Scalar } from './scalar.ts';

/** A signed integer of 1, 2, 4 or 8 bytes, big-endian two's complement. Never widened: Flink reads TINYINT as one byte. */
export function integerScalar(width: 1 | 2 | 4 | 8): Scalar<bigint> {
  const bits = width * 8;
  const limit = 2n ** BigInt(bits - 1);
  const rule = `must be an integer from −2^${bits - 1} to 2^${bits - 1} − 1`;
  const numberLimit = Math.min(Number(limit), Number.MAX_SAFE_INTEGER);
  const check = (value: FieldValue, path: string): bigint => {
    // Most integers come as small numbers, and comparing those costs less than comparing bigints.
    if (typeof value === 'number' && Number.isInteger(value) && value >= -numberLimit && value < numberLimit) {
      return BigInt(value);
    }
    const integer = integerOf(value);
    return integer === undefined || integer < -limit || integer >= limit ? refuseValue(path, rule, value) : integer;
  };
  return {
    check,
    width,
    toBytes: (integer) => {
      const bytes = Buffer.allocUnsafe(width);
      if (width === 8) bytes.writeBigInt64BE(integer);
      else bytes.writeIntBE(Number(integer), 0, width);
      return bytes;
    },
    fromBytes: (bytes, path) => {
      expectLength(bytes, width, path);
      return width === 8 ? bytes.readBigInt64BE() : BigInt(bytes.readIntBE(0, width));
    },
    toText: String,
    fromText: check,
    toValue: (integer) => integer,
  };
}
