import { bigEndianHex } from '../base/read-back.ts';
import type { Departure } from '../base/departures.ts';
import type { StagedMessage } from './plan.ts';

/** What the messages look like on their topics. Pure. One record a line. */

export const flightId = ({ number }: Departure): string => String(number).padStart(5, '0');

/** The family that `remarks` lacks at first, and a column of it. */
export const REMARK = { family: 'remark', column: 'text' } as const;

/** For `airports` and `flights`: JSON that their mappings read. */
export const departuresBody = ({ flights, refused }: StagedMessage): Buffer =>
  lines(
    flights.map((flight, index) => {
      const { origin, destination, day, time, miles, delay } = flight;
      return {
        ...{ flight: flightId(flight), origin, destination },
        day: refused.airports === index ? `${day}T00:00:00${REFUSED_TIME}Z` : `${day}T00:00:00Z`,
        departed: refused.flights === index ? `${day}T${time}:00${REFUSED_TIME}Z` : `${day}T${time}:00Z`,
        ...{ flights: 1, miles, delay },
      };
    }),
  );

/** Only a record that its table is to refuse has a cell at such a millisecond of its minute. */
const REFUSED_TIME = '.001';

/** Whether the time of a cell is that of a record that its table is to refuse. */
export const isRefusedTime = (micros: bigint): boolean => micros % 60_000_000n === 1000n;

/** For `remarks`: entries, in the JSON form of `google.bigtable.v2.MutateRowsRequest.Entry`. */
export const remarksBody = ({ flights, refused }: StagedMessage): Buffer =>
  lines(
    flights.map((flight, index) => {
      const cell = (familyName: string, column: string, value: Buffer) => ({
        setCell: {
          ...{ familyName, columnQualifier: base64(column) },
          ...{ timestampMicros: '0', value: value.toString('base64') },
        },
      });
      const delay = cell('flight', 'delay', Buffer.from(bigEndianHex(flight.delay), 'hex'));
      const remark = cell(REMARK.family, REMARK.column, Buffer.from(remarkOf(flight)));
      return { rowKey: base64(flightId(flight)), mutations: refused.remarks === index ? [delay, remark] : [delay] };
    }),
  );

export const remarkOf = ({ origin, destination }: Departure): string => `${origin} to ${destination}`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const lines = (records: readonly object[]): Buffer =>
  Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'));
