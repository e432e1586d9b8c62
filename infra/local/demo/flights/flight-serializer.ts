import type { Serialize } from '../../../../shared/mapping/serializer.ts';
import type { Mutation } from '../../../../shared/model/mutation.ts';

/** What the publisher sends: one flight as JSON. */
interface FlightRecord {
  readonly key: string;
  /** Microseconds since the epoch, as text: they outgrow what a JSON number holds exactly in other languages. */
  readonly departureMicros: string;
  readonly delay: number;
  readonly distance: number;
  /** Default `flight`. */
  readonly family?: string;
}

/**
 * The demo's serializer, as a user writes one: a flight becomes a row of three cells that carry its departure as their
 * timestamp, so that a second delivery writes the same cells again. Short hops are skipped. It checks nothing: what is
 * wrong with a record is for the connector to find out.
 */
const serializeFlight: Serialize = ({ data }) => {
  const flight = JSON.parse(data.toString('utf8')) as FlightRecord;
  if (flight.distance < 100) return null;
  const family = flight.family ?? 'flight';
  const timestampMicros = BigInt(flight.departureMicros);
  const cell = (qualifier: string, value: Buffer): Mutation => ({
    kind: 'setCell',
    family,
    qualifier: Buffer.from(qualifier),
    timestampMicros,
    value,
  });
  return {
    rowKey: Buffer.from(flight.key),
    mutations: [
      cell('delay', int64(flight.delay)),
      cell('distance', int64(flight.distance)),
      cell('summary', Buffer.from(`${flight.distance} miles, ${flight.delay} minutes late`)),
    ],
  };
};

export default serializeFlight;

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}
