import { createHash } from 'node:crypto';
import { SHORTEST_MILES } from '../bulk/fates.ts';
import type { Flight } from '../base/flights.ts';
import { bigEndianHex } from '../base/read-back.ts';
import {
  departureMicros,
  flightCells,
  LONGER_THAN_A_ROW_KEY_MAY_BE,
  summaryOf,
  type FlightForm,
} from '../bulk/form.ts';

const flightId = ({ number }: Flight): string => String(number).padStart(6, '0');

/**
 * Flights for the mapping in `mapped/connector.yaml`, which makes the row key. A mapping skips by equality, so the
 * record says what kind of haul it is; and it names its families itself, so a record that waits has an object `review`.
 */
export const mappedForm: FlightForm = {
  rowKeyOf: (flight) =>
    `${createHash('sha256').update(flightId(flight)).digest('hex').slice(0, 2)}#${flightId(flight)}`,
  lineOf(flight, fate) {
    const { delay, distance } = flight;
    const well = {
      flight: flightId(flight),
      // Below 2^53 until the year 2255, so a JSON number holds it.
      departureMicros: Number(departureMicros(flight)),
      haul: distance < SHORTEST_MILES ? 'short' : 'long',
      ...{ delay, distance, summary: summaryOf(flight) },
    };
    switch (fate) {
      case 'good':
      case 'short-hop':
        return JSON.stringify(well);
      case 'unknown-family':
        return JSON.stringify({ ...well, review: { delay } });
      case 'empty-row-key':
        return JSON.stringify({ ...well, flight: '' });
      case 'long-row-key':
        return JSON.stringify({ ...well, flight: well.flight.padEnd(LONGER_THAN_A_ROW_KEY_MAY_BE, '0') });
      case 'odd-timestamp':
        return JSON.stringify({ ...well, departureMicros: well.departureMicros + 1 });
      case 'not-json':
        return JSON.stringify(well).slice(0, -1);
    }
  },
  cellsOf(flight, fate) {
    const review = [`review:delay@${departureMicros(flight)}`, bigEndianHex(flight.delay)] as const;
    return new Map([...flightCells(flight, 'flight'), ...(fate === 'good' ? [] : [review])]);
  },
};
