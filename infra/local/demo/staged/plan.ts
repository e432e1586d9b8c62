import type { Departure } from '../base/departures.ts';

/**
 * What the publisher does, as a value: which flights go into which message, and which messages it publishes twice.
 * Pure: equal flights give equal messages.
 */
export interface StagedMessage {
  readonly flights: readonly Departure[];
  /** The publisher's id of the message; without one Pub/Sub's own tells messages apart. */
  readonly id?: string;
  /** How often the publisher publishes it. */
  readonly copies: 1 | 2;
}

export const FLIGHTS_PER_MESSAGE = 10;

/** Of ten messages one is published twice under its id, which counts once, and one twice without an id: that counts twice. */
export function planMessages(flights: readonly Departure[]): StagedMessage[] {
  const count = Math.ceil(flights.length / FLIGHTS_PER_MESSAGE);
  return Array.from({ length: count }, (_, index): StagedMessage => {
    const own = flights.slice(index * FLIGHTS_PER_MESSAGE, (index + 1) * FLIGHTS_PER_MESSAGE);
    const rest = index % 10;
    if (rest === 7) return { flights: own, copies: 2 };
    return { flights: own, id: `batch-${index}`, copies: rest === 3 ? 2 : 1 };
  });
}

/** How often each record of the message must count, whatever happens to its copies. */
export const effectsOf = ({ id, copies }: Pick<StagedMessage, 'id' | 'copies'>): number =>
  id === undefined ? copies : 1;

/** The body of a message: one record a line. */
export const dataOf = ({ flights }: StagedMessage): Buffer => Buffer.from(flights.map(lineOf).join('\n'));

export const flightId = ({ number }: Departure): string => String(number).padStart(5, '0');

const lineOf = (flight: Departure): string => {
  const { origin, destination, day, miles, delay } = flight;
  const record = { flight: flightId(flight), origin, destination, day: `${day}T00:00:00Z`, flights: 1, miles, delay };
  return JSON.stringify(record);
};
