import { bigEndianHex, type ExpectedRow } from '../base/read-back.ts';
import type { Departure } from '../base/departures.ts';
import { effectsOf, flightId, type StagedMessage } from './plan.ts';

/** What must be in the tables when all is done. */
export interface Truth {
  /** Records that count, each as often as it must. */
  readonly effects: number;
  /** Table id → row key → cells. The address {@link MARKERS} holds how many markers the row has. */
  readonly tables: Readonly<Record<'airports' | 'departures', ReadonlyMap<string, ExpectedRow>>>;
}

/** Stands for all markers of a row: there is one for each record that counted, and their names are digests. */
export const MARKERS = 'markers';

/** Computed from what was planned alone: nothing here knows the mapping, or asks the connector. */
export function truthOf(plan: readonly StagedMessage[]): Truth {
  const sums = new Map<string, Map<string, number>>();
  const departures = new Map<string, ExpectedRow>();
  let effects = 0;
  for (const message of plan) {
    const times = effectsOf(message);
    for (const flight of message.flights) {
      effects += times;
      count(rowOf(sums, flight.origin), flight, times);
      departures.set(`${flight.origin}#${flightId(flight)}`, cellsOf(flight, times));
    }
  }
  const airports = new Map([...sums].map(([airport, cells]) => [airport, inHexadecimal(cells)]));
  return { effects, tables: { airports, departures } };
}

const midnight = ({ day }: Departure): string => `${BigInt(Date.parse(`${day}T00:00:00Z`)) * 1000n}`;

function rowOf(sums: Map<string, Map<string, number>>, airport: string): Map<string, number> {
  const row = sums.get(airport) ?? new Map<string, number>();
  sums.set(airport, row);
  return row;
}

function count(row: Map<string, number>, flight: Departure, times: number): void {
  const add = (address: string, value: number): void => {
    row.set(address, (row.get(address) ?? 0) + value);
  };
  add(`total:flights@${midnight(flight)}`, times);
  add(`total:miles@${midnight(flight)}`, times * flight.miles);
  add(`total:delay@${midnight(flight)}`, times * flight.delay);
  add(MARKERS, times);
}

const inHexadecimal = (cells: ReadonlyMap<string, number>): ExpectedRow =>
  new Map([...cells].map(([address, value]) => [address, bigEndianHex(value)]));

/** Written twice they are the same cells; only the markers are two. */
const cellsOf = (flight: Departure, times: number): ExpectedRow =>
  new Map([
    [`flight:destination@${midnight(flight)}`, Buffer.from(flight.destination).toString('hex')],
    [`flight:miles@${midnight(flight)}`, bigEndianHex(flight.miles)],
    [`flight:delay@${midnight(flight)}`, bigEndianHex(flight.delay)],
    [MARKERS, bigEndianHex(times)],
  ]);
