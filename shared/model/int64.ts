/** Signed 64-bit integers, which a number does not hold: `bigint` everywhere, texts where JSON carries them. Pure. */

export const MIN_INT64 = -(2n ** 63n);
export const MAX_INT64 = 2n ** 63n - 1n;

export const isInt64 = (value: bigint): boolean => value >= MIN_INT64 && value <= MAX_INT64;

/** Enough digits for the range; a longer text is refused before it is made a number. */
const DIGITS = /^-?\d{1,19}$/;

/** An int64 as JSON carries it: decimal digits in a text, or a number where numbers are exact. Undefined otherwise. */
export function int64OfJson(value: unknown): bigint | undefined {
  const isExact =
    typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'string' && DIGITS.test(value);
  if (!isExact) return undefined;
  const parsed = BigInt(value as number | string);
  return isInt64(parsed) ? parsed : undefined;
}
