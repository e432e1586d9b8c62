import { type FieldValue, NumberText, refuseValue } from '../values/field-value.ts';
import { expectLength } from './bytes.ts';
import type { Scalar } from './scalar.ts';

const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Texts that stand for what JSON numbers cannot say; the names are those of Protobuf's JSON form. */
const NAMED = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/**
 * IEEE 754 bits, big-endian. The nearest representable number is taken, as everywhere with floats; a finite number
 * that would become infinite is out of range and refused.
 */
export function floatScalar(width: 4 | 8): Scalar<number> {
  const round = width === 4 ? Math.fround : (value: number): number => value;
  const rule = `must be a number in the range of a ${width * 8}-bit float`;
  const check = (value: FieldValue, path: string): number => {
    const read = numberOf(value);
    if (read === undefined) return refuseValue(path, rule, value);
    const rounded = round(read.number);
    return Number.isFinite(rounded) || read.isNamed ? rounded : refuseValue(path, rule, value);
  };
  return {
    check,
    width,
    toBytes: (value) => {
      const bytes = Buffer.allocUnsafe(width);
      if (width === 4) bytes.writeFloatBE(value);
      else bytes.writeDoubleBE(value);
      return bytes;
    },
    fromBytes: (bytes, path) => {
      expectLength(bytes, width, path);
      return width === 4 ? bytes.readFloatBE() : bytes.readDoubleBE();
    },
    // String() drops the sign of −0.
    toText: (value) => (Object.is(value, -0) ? '-0' : String(value)),
    fromText: check,
    toValue: (value) => value,
  };
}

/** The double nearest to what the field holds. `isNamed` = infinite or NaN because the record says so. */
function numberOf(value: FieldValue): { number: number; isNamed: boolean } | undefined {
  if (typeof value === 'number') return { number: value, isNamed: !Number.isFinite(value) };
  if (typeof value === 'bigint') return { number: Number(value), isNamed: false };
  if (value instanceof NumberText) return { number: Number(value.text), isNamed: false };
  if (typeof value !== 'string') return undefined;
  const named = NAMED.get(value);
  if (named !== undefined) return { number: named, isNamed: true };
  return NUMBER.test(value) ? { number: Number(value), isNamed: false } : undefined;
}
