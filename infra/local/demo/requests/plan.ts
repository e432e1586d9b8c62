import type { Departure } from '../base/departures.ts';
import { bigEndianHex, type ExpectedRow } from '../base/read-back.ts';

/** What the publisher sends, and what must come of it whatever the order. Pure. */

export interface RequestMessage {
  readonly flight: Departure;
  readonly copies: 1;
}

export const planRequests = (flights: readonly Departure[]): RequestMessage[] =>
  flights.map((flight) => ({ flight, copies: 1 }));

export const flightId = ({ number }: Departure): string => String(number).padStart(5, '0');
export const airportDay = ({ origin, day }: Departure): string => `${origin}#${day}`;
const routeOf = ({ origin, destination }: Departure): string => `${origin}-${destination}`;

/** The minute of departure, and within it the flight's number as milliseconds: no two flights leave at once. */
const departureMicros = ({ day, time, number }: Departure): number =>
  (Date.parse(`${day}T${time}:00Z`) + number) * 1000;

export const requestData = ({ flight }: RequestMessage): Buffer => {
  const { origin, destination, day, delay } = flight;
  const record = { flight: flightId(flight), origin, destination, day, departure: departureMicros(flight), delay };
  return Buffer.from(JSON.stringify(record));
};

/** The table `routes`: the last departure of each, and nothing of those before it. */
export function expectedRoutes(flights: readonly Departure[]): ReadonlyMap<string, ExpectedRow> {
  const latest = new Map<string, Departure>();
  for (const flight of flights) {
    const known = latest.get(routeOf(flight));
    if (!known || departureMicros(known) < departureMicros(flight)) latest.set(routeOf(flight), flight);
  }
  return new Map([...latest].map(([route, flight]) => [route, cellsOf(flight)]));
}

const cellsOf = (flight: Departure): ExpectedRow =>
  new Map([
    [`latest:flight@${departureMicros(flight)}`, Buffer.from(flightId(flight)).toString('hex')],
    [`latest:delay@${departureMicros(flight)}`, bigEndianHex(flight.delay)],
  ]);
