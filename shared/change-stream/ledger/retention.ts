import { formatRange, type RowRange } from '../../model/row-range.ts';
import type { Nanos } from '../../model/change.ts';
import { type HeldPartition, type Position, unfailed } from './partition.ts';
import { nanosOf } from './position-of.ts';

/** What the service keeps of a stream, and positions that are older than that. Pure. */

/** The edge of what is kept moves on between a decision and the moment when the service admits a read. */
export const MARGIN_MILLIS = 60_000;

/** Retention is read again after so long. */
export const RETENTION_FRESH_MILLIS = 5 * 60_000;

const DAY_MILLIS = 24 * 60 * 60_000;

/** What is assumed where retention may not be read: the longest that the service offers. */
const LONGEST_RETENTION_MILLIS = 7 * DAY_MILLIS;

/** How long the document of a partition that is done is kept, so that a lost position is known: the retention and a day. */
export const keptMillis = (retentionMillis: number | undefined): number =>
  (retentionMillis ?? LONGEST_RETENTION_MILLIS) + DAY_MILLIS;

/** The earliest position from which a read is surely admitted. */
export const earliestOf = (retentionMillis: number, now: number): Nanos =>
  nanosOf(now - retentionMillis + MARGIN_MILLIS);

export interface Clamped {
  readonly lowWatermark: Nanos;
  readonly isClamped: boolean;
}

export interface Retained {
  /** Absent where it may not be read. */
  readonly retentionMillis?: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The same position, or the earliest that the service keeps. */
export function clampToRetention(lowWatermark: Nanos, { retentionMillis, now }: Retained): Clamped {
  if (retentionMillis === undefined) return { lowWatermark, isClamped: false };
  const earliest = earliestOf(retentionMillis, now);
  return lowWatermark < earliest ? { lowWatermark: earliest, isClamped: true } : { lowWatermark, isClamped: false };
}

export type Expiry =
  /** The service still keeps what comes next, as far as is known. */
  | { readonly kind: 'live' }
  /** It stands still until a person says from where it goes on; the others are not touched by it. */
  | { readonly kind: 'expired'; readonly problem: string }
  /** It goes on from the fallback. What came between is lost. */
  | { readonly kind: 'restarted'; readonly held: HeldPartition; readonly lostMillis: number };

/**
 * Whether a partition that is taken can still be read on.
 *
 * @param fallback where it goes on if not; an older one than the service keeps is moved to what it keeps. Absent: nowhere.
 * @throws RangeError where the fallback lies in the future.
 */
export function checkExpiry(held: HeldPartition, fallback: Nanos | undefined, retained: Retained): Expiry {
  const { retentionMillis, now } = retained;
  if (retentionMillis === undefined) return { kind: 'live' };
  const earliest = earliestOf(retentionMillis, now);
  const { lowWatermark } = held.position;
  if (lowWatermark >= earliest) return { kind: 'live' };
  if (fallback === undefined) return { kind: 'expired', problem: expiredProblem(held.range, lowWatermark, earliest) };
  if (fallback > nanosOf(now)) throw new RangeError(`the fallback ${formatNanos(fallback)} lies in the future`);
  const from = clampToRetention(fallback, retained).lowWatermark;
  const position: Position = { tokens: [], lowWatermark: from };
  const restarted = { how: 'fallback', until: from } as const;
  return {
    kind: 'restarted',
    held: { ...unfailed(held), position, restarted },
    lostMillis: Number((from - lowWatermark) / 1_000_000n),
  };
}

const expiredProblem = (range: RowRange, lowWatermark: Nanos, earliest: Nanos): string =>
  `${formatRange(range)} was read to ${formatNanos(lowWatermark)}, and the service keeps nothing before ${formatNanos(earliest)}: ` +
  `the ${Number((earliest - lowWatermark) / 1_000_000_000n)} s between are lost; name a resumeFallback, or restart the source from a position that is kept`;

/** RFC 3339 with nine digits. */
export function formatNanos(nanos: Nanos): string {
  const seconds = nanos / 1_000_000_000n;
  const rest = nanos % 1_000_000_000n;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${String(rest).padStart(9, '0')}Z`;
}
