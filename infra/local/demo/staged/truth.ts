import { bigEndianHex, type ExpectedRow } from '../base/read-back.ts';
import type { Departure } from '../base/departures.ts';
import { flightId, REMARK, remarkOf } from './bodies.ts';
import { departuresOf, effectsOf, remarksOf, type StagedMessage, type StagedPlan } from './plan.ts';

export const TABLES = ['airports', 'departures', 'remarks'] as const;
export type TableId = (typeof TABLES)[number];

/** What must be in a table when all is done. */
export interface TableTruth {
  /** Records that count, each as often as it must. */
  readonly effects: number;
  /** Row key → cells. The address {@link MARKERS} holds how many markers the row has. */
  readonly rows: ReadonlyMap<string, ExpectedRow>;
}

export type Truth = Readonly<Record<TableId, TableTruth>>;

/** Stands for all markers of a row: there is one for each record that counted, and their names are digests. */
export const MARKERS = 'markers';

/** Computed from what was planned alone: nothing here knows the mappings, or asks the connector. */
export function truthOf(plan: StagedPlan): Truth {
  const departures = departuresOf(plan);
  return {
    airports: airportsTruth(departures),
    departures: rowsTruth(departures, 'flights', departureKey, departureCells),
    remarks: rowsTruth(remarksOf(plan), undefined, flightId, remarkCells),
  };
}

const microsAt = (day: string, time: string): string => `${BigInt(Date.parse(`${day}T${time}:00Z`)) * 1000n}`;

function airportsTruth(messages: readonly StagedMessage[]): TableTruth {
  const sums = new Map<string, Map<string, number>>();
  let effects = 0;
  for (const message of messages) {
    const times = effectsOf(message);
    for (const [index, flight] of message.flights.entries()) {
      if (message.refused.airports === index) continue;
      effects += times;
      const row = sums.get(flight.origin) ?? new Map<string, number>();
      sums.set(flight.origin, row);
      count(row, flight, times);
    }
  }
  return { effects, rows: new Map([...sums].map(([airport, cells]) => [airport, inHexadecimal(cells)])) };
}

function count(row: Map<string, number>, { day, miles, delay }: Departure, times: number): void {
  const midnight = microsAt(day, '00:00');
  const add = (address: string, value: number): void => {
    row.set(address, (row.get(address) ?? 0) + value);
  };
  add(`total:flights@${midnight}`, times);
  add(`total:miles@${midnight}`, times * miles);
  add(`total:delay@${midnight}`, times * delay);
  add(MARKERS, times);
}

const inHexadecimal = (cells: ReadonlyMap<string, number>): ExpectedRow =>
  new Map([...cells].map(([address, value]) => [address, bigEndianHex(value)]));

/** A row for each record. Written twice it is the same cells; only the markers are two. */
function rowsTruth(
  messages: readonly StagedMessage[],
  refusing: 'flights' | undefined,
  keyOf: (flight: Departure) => string,
  cellsOf: (flight: Departure, message: StagedMessage, index: number) => readonly (readonly [string, string])[],
): TableTruth {
  const rows = new Map<string, ExpectedRow>();
  let effects = 0;
  for (const message of messages) {
    const times = effectsOf(message);
    for (const [index, flight] of message.flights.entries()) {
      if (refusing && message.refused[refusing] === index) continue;
      effects += times;
      rows.set(keyOf(flight), new Map([...cellsOf(flight, message, index), [MARKERS, bigEndianHex(times)]]));
    }
  }
  return { effects, rows };
}

const departureKey = (flight: Departure): string => `${flight.origin}#${flightId(flight)}`;

function departureCells({ destination, miles, delay, day, time }: Departure): readonly (readonly [string, string])[] {
  const departed = microsAt(day, time);
  return [
    [`flight:destination@${departed}`, Buffer.from(destination).toString('hex')],
    [`flight:miles@${departed}`, bigEndianHex(miles)],
    [`flight:delay@${departed}`, bigEndianHex(delay)],
  ];
}

const remarkCells = (
  flight: Departure,
  { refused }: StagedMessage,
  index: number,
): readonly (readonly [string, string])[] => [
  ['flight:delay@0', bigEndianHex(flight.delay)],
  ...(refused.remarks === index
    ? [[`${REMARK.family}:${REMARK.column}@0`, Buffer.from(remarkOf(flight)).toString('hex')] as const]
    : []),
];
