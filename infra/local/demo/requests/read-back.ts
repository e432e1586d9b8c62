import type { Table } from '@google-cloud/bigtable';
import { readRows } from '../base/read-back.ts';

export interface AirportDays {
  /** Row key → flight that is in it. */
  readonly airportDays: ReadonlyMap<string, string>;
  readonly markers: number;
}

/** Reads the whole table with the official client. A row with more than one flight counts as one with none of them. */
export async function readAirportDays(table: Table): Promise<AirportDays> {
  const airportDays = new Map<string, string>();
  let markers = 0;
  for await (const { key, cells } of readRows(table)) {
    const flights = cells.filter(({ family }) => family === 'first').map(({ value }) => value.toString('utf8'));
    markers += cells.length - flights.length;
    airportDays.set(key, flights.length === 1 ? (flights[0] ?? '') : '');
  }
  return { airportDays, markers };
}
