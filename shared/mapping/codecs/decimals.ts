import { RecordError } from '../../base/errors.ts';
import { type Decimal, decimalOf, formatDecimal, rescaleExactly, rescaleHalfUp } from '../values/decimal.ts';
import { type FieldValue, NumberText, refuseValue } from '../values/field-value.ts';
import type { Scalar } from './scalar.ts';

const SCALE_BYTES = 4;

/**
 * DECIMAL(precision, scale): four bytes of scale, then the unscaled integer in the fewest two's-complement bytes.
 * Writing never rounds: a number with more places than declared is refused. Reading takes any stored scale and rounds
 * half up, because other writers choose their own; too large is an error, never null.
 */
export function decimalScalar(precision: number, scale: number): Scalar<bigint> {
  const limit = 10n ** BigInt(precision);
  const rule = `must be a decimal of at most ${precision} digits, ${scale} of them after the point`;
  const isWithin = (unscaled: bigint): boolean => unscaled < limit && unscaled > -limit;
  const check = (value: FieldValue, path: string): bigint => {
    const decimal = decimalOf(value);
    const unscaled = decimal && rescaleExactly(decimal, scale);
    return unscaled !== undefined && isWithin(unscaled) ? unscaled : refuseValue(path, rule, value);
  };
  return {
    check,
    toBytes: (unscaled) => storedBytes(unscaled, scale),
    fromBytes: (bytes, path) => {
      const stored = storedDecimal(bytes, path);
      const unscaled = rescaleHalfUp(stored, scale);
      if (!isWithin(unscaled)) throw new RecordError(`${path}: ${rule}, got a larger number`);
      return unscaled;
    },
    toText: (unscaled) => formatDecimal({ unscaled, scale }),
    fromText: check,
    toValue: (unscaled) => new NumberText(formatDecimal({ unscaled, scale })),
  };
}

/** A stored scale beyond this belongs to no writer of decimals; the bound keeps 10^scale small. */
const MAX_STORED_SCALE = 1000;

function storedDecimal(bytes: Buffer, path: string): Decimal {
  if (bytes.length <= SCALE_BYTES) {
    throw new RecordError(`${path}: must be a scale of 4 bytes and at least one digit byte, got ${bytes.length} bytes`);
  }
  const scale = bytes.readInt32BE(0);
  if (Math.abs(scale) > MAX_STORED_SCALE) {
    throw new RecordError(`${path}: must have a scale from −${MAX_STORED_SCALE} to ${MAX_STORED_SCALE}, got another`);
  }
  const digits = bytes.subarray(SCALE_BYTES);
  const unscaled = BigInt.asIntN(digits.length * 8, BigInt(`0x${digits.toString('hex')}`));
  return scale < 0 ? { unscaled: unscaled * 10n ** BigInt(-scale), scale: 0 } : { unscaled, scale };
}

/** Integers of up to six bytes, which a double and a Buffer's own writer take. */
const MAX_SMALL_BYTES = 6;
const SMALL_LIMIT = 2 ** (MAX_SMALL_BYTES * 8 - 1);

/** The fewest bytes whose two's complement is the integer; zero is one byte. Written behind `scale`. */
function storedBytes(integer: bigint, scale: number): Buffer {
  const number = Number(integer);
  const isSmall = number >= -SMALL_LIMIT && number < SMALL_LIMIT;
  const width = isSmall ? smallWidth(number) : largeWidth(integer);
  const bytes = Buffer.allocUnsafe(SCALE_BYTES + width);
  bytes.writeInt32BE(scale);
  if (isSmall) bytes.writeIntBE(number, SCALE_BYTES, width);
  else
    bytes.write(
      BigInt.asUintN(width * 8, integer)
        .toString(16)
        .padStart(width * 2, '0'),
      SCALE_BYTES,
      'hex',
    );
  return bytes;
}

function smallWidth(number: number): number {
  let width = 1;
  while (number < -(2 ** (width * 8 - 1)) || number >= 2 ** (width * 8 - 1)) width += 1;
  return width;
}

function largeWidth(integer: bigint): number {
  const magnitude = integer < 0n ? -integer - 1n : integer;
  // One bit for the sign, then whole bytes.
  return Math.floor(magnitude.toString(2).length / 8) + 1;
}
