import { bigEndianHex, type ExpectedRow } from '../base/read-back.ts';
import type { Fate } from './fates.ts';
import type { Flight } from '../base/flights.ts';

/**
 * How flights travel to one pipeline of the demo, and which rows they must become. Knows neither the serializer nor the
 * mapping, so a fault of either cannot hide in it.
 */
export interface FlightForm {
  readonly rowKeyOf: (flight: Flight) => string;
  /** One line of NDJSON, broken as the fate says. */
  readonly lineOf: (flight: Flight, fate: Fate) => string;
  /** The cells of a flight that is written. */
  readonly cellsOf: (flight: Flight, fate: 'good' | 'unknown-family') => ExpectedRow;
}

/** The day whose midnight the demo counts departures from: the data set gives the hour, not the day. */
const MIDNIGHT_MICROS = BigInt(Date.UTC(2001, 0, 1)) * 1000n;

/** When a flight left, to the minute: the data set's fraction of an hour is a minute exactly. */
export const departureMicros = (flight: Flight): bigint =>
  MIDNIGHT_MICROS + BigInt(Math.round(flight.time * 60)) * 60_000_000n;

/** A flight in words. */
export const summaryOf = ({ distance, delay }: Flight): string => `${distance} miles, ${delay} minutes late`;

export const LONGER_THAN_A_ROW_KEY_MAY_BE = 4097;

/** What stands in the family `flight` or, of a serializer that takes its family from the record, in another. */
export const flightCells = (flight: Flight, family: string): [address: string, hex: string][] => {
  const at = departureMicros(flight).toString();
  return [
    [`${family}:delay@${at}`, bigEndianHex(flight.delay)],
    [`${family}:distance@${at}`, bigEndianHex(flight.distance)],
    [`${family}:summary@${at}`, Buffer.from(summaryOf(flight)).toString('hex')],
  ];
};
