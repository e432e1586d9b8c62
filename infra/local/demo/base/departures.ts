import { readFile } from 'node:fs/promises';

/** What the demo says about its input, wherever it is named. */
export const DEPARTURES = {
  title: 'US domestic flights of three months with their airports (flights-20k.json of the npm package vega-datasets)',
} as const;

/** One flight of the data set, with its position in the file: the set has no other identity. */
export interface Departure {
  /** From 0. */
  readonly number: number;
  /** IATA codes. */
  readonly origin: string;
  readonly destination: string;
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** `HH:MM` */
  readonly time: string;
  /** Minutes late; negative when early. */
  readonly delay: number;
  readonly miles: number;
}

/** How many there are. */
export const DEPARTURE_COUNT = 20_000;

/** Reads the first `count` of them. Throws when the file holds fewer, or something else. */
export async function loadDepartures(count: number): Promise<Departure[]> {
  const file = new URL('../data/flights-20k.json', import.meta.resolve('vega-datasets'));
  const rows: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!Array.isArray(rows) || rows.length < count) throw new TypeError(`${file.pathname}: ${count} flights expected`);
  return rows.slice(0, count).map((row: unknown, number) => {
    if (!isDepartureRow(row)) throw new TypeError(`${file.pathname}: element ${number} is not a flight`);
    const { date, delay, distance: miles, origin, destination } = row;
    return {
      ...{ number, origin, destination, delay, miles },
      day: date.slice(0, 10).replaceAll('/', '-'),
      time: date.slice(11),
    };
  });
}

interface DepartureRow {
  /** `YYYY/MM/DD HH:MM` */
  readonly date: string;
  readonly origin: string;
  readonly destination: string;
  readonly delay: number;
  readonly distance: number;
}

const isDepartureRow = (row: unknown): row is DepartureRow => {
  if (typeof row !== 'object' || row === null) return false;
  const { date, origin, destination, delay, distance } = row as Readonly<Record<string, unknown>>;
  const isTold = typeof date === 'string' && /^\d{4}\/\d\d\/\d\d \d\d:\d\d$/.test(date);
  const isPlaced = typeof origin === 'string' && typeof destination === 'string';
  return isTold && isPlaced && typeof delay === 'number' && typeof distance === 'number';
};
