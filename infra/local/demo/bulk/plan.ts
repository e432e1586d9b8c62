import { fateOf, type Fate } from './fates.ts';
import type { Flight } from '../base/flights.ts';
import { codedForm } from '../flights/form.ts';
import type { FlightForm } from './form.ts';

/**
 * What the demo's publisher does, as a value: which flights go into which message, which of them it breaks on the way
 * and what it publishes twice. Pure: equal flights give equal messages, so every run meets the same trouble.
 */

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

export const RECORDS_PER_MESSAGE = 100;

const SINGLE_EVERY = 20;
const TWICE_EVERY = 20;

/** Most flights travel a hundred a message, every twentieth alone, and every twentieth message is published twice. */
export function planMessages(flights: readonly Flight[], form: FlightForm = codedForm): PlannedMessage[] {
  const messages: PlannedRecord[][] = [];
  let packed: PlannedRecord[] = [];
  for (const flight of flights) {
    const record = planRecord(flight, form);
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

function planRecord(flight: Flight, form: FlightForm): PlannedRecord {
  const fate = fateOf(flight);
  return { flight, fate, line: form.lineOf(flight, fate) };
}
