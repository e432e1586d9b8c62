import { drainSegments } from '../drain.ts';
import { cellOf, envelopeOf, keyOf, segmentsOf } from '../envelopes.ts';
import { openWrites } from '../marked-writes.ts';
import { VALUE, type Write } from './clients.ts';

/** Of each segment, and of each work message: 6,400 rows that wait for their turns. */
export const WRITES_PER_SEGMENT = 800;
const SEGMENTS_PER_MESSAGE = 8;

export interface DrainClient {
  readonly write: Write;
  /** Envelopes that were applied since this was asked last. */
  readonly takeApplied: () => number;
}

/**
 * Drains work messages of 8 stored segments each, from the bytes of the segments on. The same rows return in every
 * message: the server keeps none.
 */
export function drainClient(address: string): DrainClient {
  const { writes, metrics } = openWrites(address);
  const payloads = segmentsOf(
    Array.from({ length: WRITES_PER_SEGMENT * SEGMENTS_PER_MESSAGE }, (_, row) =>
      envelopeOf(row, keyOf(row), cellOf(VALUE)),
    ),
    WRITES_PER_SEGMENT,
  );
  return {
    async write(count) {
      for (let left = count / WRITES_PER_SEGMENT; left > 0; left -= SEGMENTS_PER_MESSAGE) {
        await drainSegments(payloads.slice(0, left), writes);
      }
    },
    takeApplied: () => metrics.snapshot().counters.recordsApplied ?? 0,
  };
}
