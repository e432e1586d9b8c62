import type { Duration } from '../../../../shared/proto/google/protobuf/duration.ts';
import type { Timestamp } from '../../../../shared/proto/google/protobuf/timestamp.ts';

/** Conversions between protobuf's times and plain numbers. Pure. */

const MICROS_PER_SECOND = 1_000_000n;

export const timestampOfMicros = (micros: bigint): Timestamp => ({
  seconds: micros / MICROS_PER_SECOND,
  nanos: Number(micros % MICROS_PER_SECOND) * 1000,
});

/** Microseconds since the epoch; nanoseconds below a microsecond are cut. */
export const microsOfTimestamp = ({ seconds, nanos }: Timestamp): bigint =>
  seconds * MICROS_PER_SECOND + BigInt(Math.trunc(nanos / 1000));

/** RFC 3339 in UTC with three fractional digits, or six where the microseconds need them, as proto3 JSON writes it. */
export function rfc3339OfMicros(micros: bigint): string {
  const millis = new Date(Number(micros / 1000n)).toISOString();
  const below = Number(micros % 1000n);
  return below === 0 ? millis : `${millis.slice(0, -1)}${String(below).padStart(3, '0')}Z`;
}

export const millisOfDuration = ({ seconds, nanos }: Duration): number => Number(seconds) * 1000 + nanos / 1e6;

export const durationOfSeconds = (seconds: number): Duration => ({ seconds: BigInt(seconds), nanos: 0 });
