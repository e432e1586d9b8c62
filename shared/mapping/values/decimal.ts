import { type FieldValue, NumberText } from './field-value.ts';

/** The number `unscaled × 10^−scale`. A scale is never negative: `1e3` is 1000 with scale 0. */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

const NUMBER = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;

/**
 * More digits or a larger exponent than any type here can hold. The bound is what keeps `1e999999999`, ten bytes on
 * the wire, from becoming an integer of a billion digits.
 */
const MAX_DIGITS = 400;

const POWERS = Array.from({ length: MAX_DIGITS + 1 }, (_, exponent) => 10n ** BigInt(exponent));

/** 10^exponent; kept, because raising a bigint costs more than the rest of reading a number. */
export const powerOfTen = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent);

/** Reads a decimal number; undefined when the text is none, or needs more than 400 digits. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return { unscaled: 0n, scale: 0 };
  const scale = fraction.length - Number(exponent);
  if (digits.length > MAX_DIGITS || Math.abs(scale) > MAX_DIGITS) return undefined;
  const unscaled = BigInt(`${sign === '-' ? '-' : ''}${digits}`);
  return scale < 0 ? { unscaled: unscaled * powerOfTen(-scale), scale: 0 } : { unscaled, scale };
}

/** The number that a field holds: a number of any format, or a text of decimal digits as JSON publishers write int64. */
export function decimalOf(value: FieldValue): Decimal | undefined {
  if (typeof value === 'bigint') return { unscaled: value, scale: 0 };
  if (typeof value === 'number') return Number.isFinite(value) ? parseDecimal(String(value)) : undefined;
  if (typeof value === 'string') return parseDecimal(value);
  return value instanceof NumberText ? parseDecimal(value.text) : undefined;
}

/** The same number with exactly `scale` decimal places; undefined when digits would be lost. */
export function rescaleExactly({ unscaled, scale: from }: Decimal, scale: number): bigint | undefined {
  if (scale >= from) return unscaled * powerOfTen(scale - from);
  const factor = powerOfTen(from - scale);
  return unscaled % factor === 0n ? unscaled / factor : undefined;
}

/** The number with `scale` decimal places, a half rounded away from zero. */
export function rescaleHalfUp({ unscaled, scale: from }: Decimal, scale: number): bigint {
  if (scale >= from) return unscaled * powerOfTen(scale - from);
  const factor = powerOfTen(from - scale);
  const half = unscaled < 0n ? -(factor / 2n) : factor / 2n;
  return (unscaled + half) / factor;
}

/** The integer that a field holds; undefined for anything that is no number or has a fraction. */
export function integerOf(value: FieldValue): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  const decimal = decimalOf(value);
  return decimal && rescaleExactly(decimal, 0);
}

/** Plain notation, every declared decimal place shown: `-1.50`. */
export function formatDecimal({ unscaled, scale }: Decimal): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
