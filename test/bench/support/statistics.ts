/** Numbers over the rounds of one run. Pure. */

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** @throws {RangeError} without values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((left, right) => left - right);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  if (low === undefined || high === undefined) throw new RangeError('a spread needs at least one value');
  return { median: (low + high) / 2, min: sorted[0] ?? low, max: sorted.at(-1) ?? high };
}

/** What a ratio must be for the product to be as fast as promised. */
export type Target = { readonly atLeast: number } | { readonly atMost: number };

export interface Ratio {
  readonly name: string;
  /** Of the medians. */
  readonly value: number;
  /** Lowest and highest of the rounds, each round's two values measured right after one another. */
  readonly min: number;
  readonly max: number;
  readonly target: Target;
  readonly isMet: boolean;
}

/** Compares two series that were measured in the same rounds. */
export function ratioOf(
  name: string,
  numerator: readonly number[],
  denominator: readonly number[],
  target: Target,
): Ratio {
  const value = spreadOf(numerator).median / spreadOf(denominator).median;
  const { min, max } = spreadOf(numerator.map((top, round) => top / (denominator[round] ?? Number.NaN)));
  return { name, value, min, max, target, isMet: meets(value, target) };
}

export const meets = (value: number, target: Target): boolean =>
  'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
