/**
 * The value at `share` of some values, from 0 for the least to 1 for the greatest: always one of them, at the nearest
 * lower rank. Undefined without values. Every figure that is told as a median or a p95 is made here. Pure.
 *
 * @param sorted the values, least first.
 */
export const quantileOf = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.floor(share * (sorted.length - 1))];

/** In the order that {@link quantileOf} takes. */
export const sortedNumbers = (values: readonly number[]): number[] => values.toSorted((left, right) => left - right);
