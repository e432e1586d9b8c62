/**
 * The id of a segment says all that a query needs: `{lane}-{number}-{random}`. Pure.
 *
 * - The **lane**, `0` to `7`, spreads the writes of one time over the store's key space.
 * - The **number** is that of the checkpoint that owns the segment: the one after the last that its stager knew to be
 *   complete, in 12 digits, so that ids of a lane in their order are numbers in theirs.
 * - The **random** part is 16 hexadecimal digits, uniform, so that a range is cut into equal shares without being read.
 *
 * One id means the same envelopes forever. Segments of the format before this one bear a UUID: no lane's range holds
 * them, and their number is 0.
 */

export const LANES = 8;

const NUMBER_DIGITS = 12;
const RANDOM_DIGITS = 16;

/** The greatest number that an id can bear. */
export const MAX_NUMBER = 10 ** NUMBER_DIGITS - 1;

/** Ids from `from` on and below `to`, in the order of their bytes. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

const NEW_FORMAT = /^([0-7])-(\d{12})-[0-9a-f]{16}$/;

const digits = (number: number): string => String(number).padStart(NUMBER_DIGITS, '0');

/** @param random 16 hexadecimal digits. Throws a `RangeError` for what no id can bear. */
export function segmentId(lane: number, number: number, random: string): string {
  const id = `${lane}-${digits(number)}-${random}`;
  if (!NEW_FORMAT.test(id)) throw new RangeError(`a segment's id must be lane-number-random, got ${id}`);
  return id;
}

/** The number of the checkpoint that owns the segment; 0 for the format before this one. */
export const numberOf = (id: string): number => Number(NEW_FORMAT.exec(id)?.[2] ?? 0);

/** The ids of a lane with numbers from `first` to `last`, both included. */
export const numbersOfLane = (lane: number, first: number, last: number): IdRange => ({
  from: `${lane}-${digits(first)}-`,
  // "." is the character after "-".
  to: `${lane}-${digits(last)}.`,
});

/** The ids of a lane with a number below `number`. */
export const laneBelow = (lane: number, number: number): IdRange => ({
  from: `${lane}-`,
  to: `${lane}-${digits(number)}-`,
});

/** Where segments of the format before this one are: all that no lane holds. */
export const OUTSIDE_LANES: readonly IdRange[] = Array.from({ length: LANES + 1 }, (_, index) => ({
  from: index === 0 ? '0' : `${index - 1}.`,
  to: index === LANES ? '~' : `${index}-`,
}));

export const isInRange = (id: string, { from, to }: IdRange): boolean => id >= from && id < to;

/**
 * Cuts the ids of one lane and number into equal shares of their random part, in order; together they are the whole.
 *
 * @param shares at least 1.
 */
export function cutNumber(lane: number, number: number, shares: number): readonly IdRange[] {
  const whole = numbersOfLane(lane, number, number);
  const cutAt = (share: number): string =>
    `${whole.from}${((BigInt(share) << 64n) / BigInt(shares)).toString(16).padStart(RANDOM_DIGITS, '0')}`;
  return Array.from({ length: shares }, (_, index) => ({
    from: index === 0 ? whole.from : cutAt(index),
    to: index === shares - 1 ? whole.to : cutAt(index + 1),
  }));
}
