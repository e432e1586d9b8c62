/** Which partitions a slot gives back so that others are read. Pure. */

/** A partition is read for so long before it makes room for another, so that cancelled reads stay few. */
export const RESIDENCY_MILLIS = 60_000;

/** A partition that a slot reads. */
export interface Resident {
  readonly id: string;
  /** When its reading began. */
  readonly since: number;
  /** Something of it was confirmed in this reading: it has got further, and goes on from there. */
  readonly hasMoved: boolean;
}

/**
 * Those that may make room because others wait, in the order in which they do: the longest resident first. One that has
 * not moved yet stays, or a partition that begins slowly would never get further.
 */
export const rotatable = (residents: readonly Resident[], now: number): readonly string[] =>
  byResidency(residents.filter(({ since, hasMoved }) => hasMoved && now - since >= RESIDENCY_MILLIS));

/**
 * Those that a slot gives back because it has more than its share while other slots at work have less than theirs. At
 * most what the others lack.
 *
 * @param others units of each other slot at work.
 */
export const excess = (residents: readonly Resident[], others: readonly number[], share: number): readonly string[] => {
  const lacking = others.reduce((sum, units) => sum + Math.max(0, share - units), 0);
  const beyond = Math.max(0, residents.length - share);
  return byResidency(residents.filter(({ hasMoved }) => hasMoved)).slice(0, Math.min(beyond, lacking));
};

/** Whether some of what the other slots hold is beyond their share: it may be given back soon. */
export const isOwed = (others: readonly number[], share: number): boolean => others.some((units) => units > share);

/** Whether another slot at work has less than its share: it takes what waits before anybody takes beyond a share. */
export const isShort = (others: readonly number[], share: number): boolean => others.some((units) => units < share);

const byResidency = (residents: readonly Resident[]): readonly string[] =>
  residents.toSorted((left, right) => left.since - right.since).map(({ id }) => id);
