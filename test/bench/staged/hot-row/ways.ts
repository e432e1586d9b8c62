import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { envelopeOf, keyOf, SUMS } from '../envelopes.ts';

/** What is compared: a drain, which joins what waits for one row, and the same stored requests sent one by one. */
export const WAYS = ['drain', 'a request each'] as const;

export type Way = (typeof WAYS)[number];

export interface HotRowArgument {
  readonly way: Way;
  readonly address: string;
  readonly warmUpEnvelopes: number;
  readonly envelopes: number;
}

export interface HotRowResult {
  readonly envelopesPerSecond: number;
  /** Of the client's process. */
  readonly cpuMicrosPerEnvelope: number;
  readonly requests: number;
}

/** One envelope in this many is of a row of its own. */
const OTHERS_EVERY = 10;

/** Envelopes that count: nine in ten add to one row, the others to a row of their own each. */
export const hotEnvelopes = (from: number, to: number, hotRow: string): Envelope[] =>
  Array.from({ length: to - from }, (_, index) => {
    const number = from + index;
    return envelopeOf(number, number % OTHERS_EVERY === 0 ? keyOf(number) : hotRow, {
      kind: 'addToCell',
      family: SUMS,
      qualifier: Buffer.from('total'),
      timestampMicros: 0n,
      input: { kind: 'int64', value: 1n },
    });
  });
