import { readFile } from 'node:fs/promises';

/** What the demo says about its input, wherever it is named. */
export const DATA_SET = {
  title: 'US domestic flights, 200,000 of them (flights-200k.json of the npm package vega-datasets)',
  source: 'U.S. Bureau of Transportation Statistics, on-time performance data, https://www.transtats.bts.gov',
  licence:
    'package: BSD-3-Clause; data: collected under 14 CFR Part 234 and published by the bureau, which states no licence terms',
} as const;

/** One flight of the data set, with its position in the file: the set has no other identity. */
export interface Flight {
  /** From 0. */
  readonly number: number;
  /** Minutes late; negative when early. */
  readonly delay: number;
  /** Miles. */
  readonly distance: number;
  /** Hour of the day of departure, with a fraction. */
  readonly time: number;
}

/** How many flights there are. */
export const FLIGHTS = 200_000;

/** Reads the first `count` flights. Throws when the file holds fewer, or something else. */
export async function loadFlights(count: number): Promise<Flight[]> {
  const file = new URL('../data/flights-200k.json', import.meta.resolve('vega-datasets'));
  const rows: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!Array.isArray(rows) || rows.length < count) throw new TypeError(`${file.pathname}: ${count} flights expected`);
  return rows.slice(0, count).map((row: unknown, number) => {
    if (!isFlightRow(row)) throw new TypeError(`${file.pathname}: element ${number} is not a flight`);
    return { number, delay: row.delay, distance: row.distance, time: row.time };
  });
}

type FlightRow = Pick<Flight, 'delay' | 'distance' | 'time'>;

const isFlightRow = (row: unknown): row is FlightRow =>
  typeof row === 'object' &&
  row !== null &&
  ['delay', 'distance', 'time'].every((name) => typeof (row as Record<string, unknown>)[name] === 'number');
