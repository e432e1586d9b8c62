import type { Flight } from '../base/flights.ts';
import { departureMicros, flightCells, LONGER_THAN_A_ROW_KEY_MAY_BE, type FlightForm } from '../bulk/form.ts';

/** A flight's row key: its number behind two digits that spread neighbours over the key space. */
const rowKeyOf = ({ number }: Flight): string =>
  `${((number * 37) % 256).toString(16).padStart(2, '0')}#${String(number).padStart(6, '0')}`;

/** Flights for the serializer in `flight-serializer.ts`: the publisher makes the row key and may name the family. */
export const codedForm: FlightForm = {
  rowKeyOf,
  lineOf(flight, fate) {
    const { delay, distance } = flight;
    const well = { key: rowKeyOf(flight), departureMicros: departureMicros(flight).toString(), delay, distance };
    switch (fate) {
      case 'good':
      case 'short-hop':
        return JSON.stringify(well);
      case 'unknown-family':
        return JSON.stringify({ ...well, family: 'review' });
      case 'empty-row-key':
        return JSON.stringify({ ...well, key: '' });
      case 'long-row-key':
        return JSON.stringify({ ...well, key: well.key.padEnd(LONGER_THAN_A_ROW_KEY_MAY_BE, '#') });
      case 'odd-timestamp':
        return JSON.stringify({ ...well, departureMicros: (departureMicros(flight) + 1n).toString() });
      case 'not-json':
        return JSON.stringify(well).slice(0, -1);
    }
  },
  cellsOf: (flight, fate) => new Map(flightCells(flight, fate === 'good' ? 'flight' : 'review')),
};
