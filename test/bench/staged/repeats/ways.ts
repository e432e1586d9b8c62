import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { envelopeOf, SUMS } from '../envelopes.ts';

/** What is compared: envelopes of one row that are submitted together, and the same requests sent one by one. */
export const WAYS = ['together', 'a request each'] as const;

export type Way = (typeof WAYS)[number];

export interface RepeatsArgument {
  readonly way: Way;
  readonly address: string;
  readonly envelopes: number;
  /** How many of a hundred are applied before. */
  readonly percentBefore: number;
  /** Markers of others in the row. */
  readonly otherMarkers: number;
}

export interface RepeatsResult {
  readonly envelopesPerSecond: number;
  readonly requests: number;
}

/** Envelopes that add to one row. */
export const envelopesOfRow = (row: string, from: number, count: number): Envelope[] =>
  Array.from({ length: count }, (_, index) =>
    envelopeOf(from + index, row, {
      kind: 'addToCell',
      family: SUMS,
      qualifier: Buffer.from('total'),
      timestampMicros: 0n,
      input: { kind: 'int64', value: 1n },
    }),
  );
