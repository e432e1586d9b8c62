import { MAX_UNIT_BYTES, MAX_UNITS } from './bounds.ts';

/** Which of the units that wait a slot takes. Pure. */

/** A unit that waits longer than this may be taken by any slot, beyond its share: nobody else came for it. */
const PATIENCE_MILLIS = 3_000;

/** A unit that waits, as far as a choice goes by it. */
export interface Candidate {
  /** The time from which it may be taken. */
  readonly since: number;
  /** In the slot's document. */
  readonly bytes: number;
}

/** What a slot has and may have. */
export interface Holding {
  readonly units: number;
  /** In the slot's document. */
  readonly bytes: number;
  /** Units that it wants to have in all. */
  readonly wanted: number;
  /** Of these, as many as it works at at the same time; the others are its stock. */
  readonly concurrent: number;
  /** Of all units that are open, those that it takes without waiting for others. */
  readonly share: number;
}

/** The part of one slot in units that are open, held or waiting: at least one, so that no unit is nobody's. */
export const shareOf = (open: number, parallelism: number): number => Math.max(1, Math.ceil(open / parallelism));

/**
 * Takes from the head of the queue: up to the slot's share at once, and beyond it what has waited for 3 s, so that a slot
 * that never comes holds up nothing; but only what it works at right away, because others may be about to finish theirs.
 * Never more than is wanted, or than fits into the slot's document.
 *
 * @param waiting in their turn.
 */
export function chooseClaims<Unit extends Candidate>(waiting: readonly Unit[], holding: Holding, now: number): Unit[] {
  const chosen: Unit[] = [];
  let { bytes } = holding;
  for (const unit of waiting) {
    const units = holding.units + chosen.length;
    if (units >= Math.min(holding.wanted, MAX_UNITS)) break;
    if (units >= holding.share) {
      if (units >= holding.concurrent) break;
      if (now - unit.since < PATIENCE_MILLIS) continue;
    }
    // One alone always fits.
    if (units > 0 && bytes + unit.bytes > MAX_UNIT_BYTES) break;
    bytes += unit.bytes;
    chosen.push(unit);
  }
  return chosen;
}

/**
 * How many units a slot wants to have that reads some of them at a time: as many, and where they are so small that more
 * than that were finished of late, what it finishes until it looks again. So tiny units are claimed many in one commit.
 *
 * @param finished units that it finished since it looked last.
 */
export const wantedUnits = (concurrent: number, finished: number): number =>
  Math.min(MAX_UNITS, Math.max(concurrent, finished >= concurrent ? 2 * finished : 0));
