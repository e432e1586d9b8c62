import type { Flight } from '../base/flights.ts';

/** What the demo's publisher does to each flight, and so what must become of it. Pure. */

/** The ways in which the publisher breaks records, as people do. */
export const BROKEN_FATES = ['empty-row-key', 'long-row-key', 'odd-timestamp', 'not-json'] as const;
export type BrokenFate = (typeof BROKEN_FATES)[number];

/** `short-hop`: the pipeline skips it. `unknown-family`: nothing is wrong with it, but its family is not there yet. */
export type Fate = 'good' | 'short-hop' | 'unknown-family' | BrokenFate;

/** Flights shorter than this are not kept. */
export const SHORTEST_MILES = 100;

/** The remainders of a flight's number by 1000 at which it is broken: 1 in 1000 of each kind. */
const BROKEN_REMAINDERS = new Map<number, BrokenFate>([
  [101, 'empty-row-key'],
  [202, 'long-row-key'],
  [303, 'odd-timestamp'],
  [404, 'not-json'],
]);
const UNKNOWN_FAMILY_EVERY = 6000;

export function fateOf(flight: Flight): Fate {
  if (flight.distance < SHORTEST_MILES) return 'short-hop';
  if (flight.number % UNKNOWN_FAMILY_EVERY === 5) return 'unknown-family';
  return BROKEN_REMAINDERS.get(flight.number % 1000) ?? 'good';
}
