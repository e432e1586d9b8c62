import type { Flight } from './flights.ts';

/**
 * What the demo's publisher does, as a value: which flights go into which message, which of them it breaks on the way
 * and what it publishes twice. Pure: equal flights give equal messages, so every run meets the same trouble.
 */

/** The ways in which the publisher breaks records, as people do. */
export const BROKEN_FATES = ['empty-row-key', 'long-row-key', 'odd-timestamp', 'not-json'] as const;
export type BrokenFate = (typeof BROKEN_FATES)[number];

/** `short-hop`: the serializer skips it. `unknown-family`: nothing is wrong with it, but its family is not there yet. */
export type Fate = 'good' | 'short-hop' | 'unknown-family' | BrokenFate;

export interface PlannedRecord {
  readonly flight: Flight;
  readonly fate: Fate;
  /** One line of NDJSON. */
  readonly line: string;
}

export interface PlannedMessage {
  readonly records: readonly PlannedRecord[];
  /** How often the publisher publishes it. */
  readonly copies: 1 | 2;
}

/** Flights shorter than this are not kept; see the serializer. */
export const SHORTEST_MILES = 100;

export const RECORDS_PER_MESSAGE = 100;

/** The remainders of a flight's number by 1000 at which it is broken: 1 in 1000 of each kind. */
const BROKEN_REMAINDERS = new Map<number, BrokenFate>([
  [101, 'empty-row-key'],
  [202, 'long-row-key'],
  [303, 'odd-timestamp'],
  [404, 'not-json'],
]);
const UNKNOWN_FAMILY_EVERY = 6000;
const SINGLE_EVERY = 20;
const TWICE_EVERY = 20;

/** The day whose midnight the demo counts departures from: the data set gives the hour, not the day. */
const MIDNIGHT_MICROS = BigInt(Date.UTC(2001, 0, 1)) * 1000n;

/** When a flight left, to the minute: the data set's fraction of an hour is a minute exactly. */
export const departureMicros = (flight: Flight): bigint =>
  MIDNIGHT_MICROS + BigInt(Math.round(flight.time * 60)) * 60_000_000n;

/** A flight's row key: its number behind two digits that spread neighbours over the key space. */
export const rowKeyOf = ({ number }: Flight): string =>
  `${((number * 37) % 256).toString(16).padStart(2, '0')}#${String(number).padStart(6, '0')}`;

export function fateOf(flight: Flight): Fate {
  if (flight.distance < SHORTEST_MILES) return 'short-hop';
  if (flight.number % UNKNOWN_FAMILY_EVERY === 5) return 'unknown-family';
  return BROKEN_REMAINDERS.get(flight.number % 1000) ?? 'good';
}

/** Most flights travel a hundred a message, every twentieth alone, and every twentieth message is published twice. */
export function planMessages(flights: readonly Flight[]): PlannedMessage[] {
  const messages: PlannedRecord[][] = [];
  let packed: PlannedRecord[] = [];
  for (const flight of flights) {
    const record = planRecord(flight);
    // A message is acknowledged as a whole: one record that waits for its family would hold its neighbours back.
    if (record.fate === 'unknown-family' || flight.number % SINGLE_EVERY === 0) {
      messages.push([record]);
      continue;
    }
    packed.push(record);
    if (packed.length < RECORDS_PER_MESSAGE) continue;
    messages.push(packed);
    packed = [];
  }
  if (packed.length > 0) messages.push(packed);
  return messages.map((records, index) => ({ records, copies: index % TWICE_EVERY === 3 ? 2 : 1 }));
}

/** The body of a message: one record a line. */
export const messageData = ({ records }: PlannedMessage): Buffer =>
  Buffer.from(records.map(({ line }) => line).join('\n'));

const LONGER_THAN_A_ROW_KEY_MAY_BE = 4097;

function planRecord(flight: Flight): PlannedRecord {
  const fate = fateOf(flight);
  const { delay, distance } = flight;
  const well = { key: rowKeyOf(flight), departureMicros: departureMicros(flight).toString(), delay, distance };
  const write = (record: Record<string, unknown>): PlannedRecord => ({ flight, fate, line: JSON.stringify(record) });
  switch (fate) {
    case 'good':
    case 'short-hop':
      return write(well);
    case 'unknown-family':
      return write({ ...well, family: 'review' });
    case 'empty-row-key':
      return write({ ...well, key: '' });
    case 'long-row-key':
      return write({ ...well, key: well.key.padEnd(LONGER_THAN_A_ROW_KEY_MAY_BE, '#') });
    case 'odd-timestamp':
      return write({ ...well, departureMicros: (departureMicros(flight) + 1n).toString() });
    case 'not-json':
      return { flight, fate, line: JSON.stringify(well).slice(0, -1) };
  }
}
