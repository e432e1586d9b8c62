import * as z from 'zod';
import { choice, declare, optional, type Output, ruled, text } from '../option.ts';
import { count, requiredDuration, size } from '../quantity.ts';
import { changeFilterOf, changeFilterOptions, type ResolvedChangeFilter } from './change-filter.ts';

/** Where a change stream begins and ends, how its partitions are read, and what of them is handed on. */

/** A time of RFC 3339 with its offset. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const TIME_RULE = 'must be a time of RFC 3339 with its offset, such as "2026-01-31T00:00:00Z"';

const timeProblem = (value: string): string | undefined => (nanosOf(value) === undefined ? TIME_RULE : undefined);

/** Nanoseconds since the epoch; undefined where the text is no such time, or one before the epoch. */
export function nanosOf(written: string): bigint | undefined {
  if (!TIME.test(written)) return undefined;
  const [, seconds = '', fraction = '', offset = ''] = /^([^.]*?)(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/.exec(written) ?? [];
  const millis = Date.parse(`${seconds}${offset}`);
  if (Number.isNaN(millis) || millis < 0) return undefined;
  return BigInt(millis) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

const POSITION_BOUNDS = '"latest", "earliest", {at: time} or {ago: length}';
const positionRule = ruled(`must be ${POSITION_BOUNDS}`);

const atSection = z.strictObject({ at: text('The time itself.', timeProblem, 'a time of RFC 3339') });
const agoSection = z.strictObject({
  ago: requiredDuration('So long before the source starts.', { min: '1ms', example: '2h' }),
});

const position = z.union([z.enum(['latest', 'earliest'], positionRule), atSection, agoSection], positionRule);

export type WrittenPosition = z.output<typeof position>;

const positionFacts = { type: 'text or section', bounds: POSITION_BOUNDS };

export const changeStreamOptions = {
  startPosition: declare(
    position.prefault('latest'),
    'Time whose changes are the first. It holds when the source starts for the first time; from then on it goes on where it was. A time that the table no longer keeps becomes the earliest that it keeps, and the log says how much is missed.',
    { ...positionFacts, default: 'latest' },
  ),
  resumeFallback: declare(
    optional(position),
    'Place at which a partition goes on whose position the table no longer keeps: its changes in between are lost, and its messages say "restarted". Without it such a partition stands still, named in the status, and the others go on.',
    positionFacts,
  ),
  boundedTimestamp: optional(
    text(
      'Time at which the source ends: it is done when every change before it is handed on. Without it, it goes on.',
      timeProblem,
      'a time of RFC 3339',
    ),
  ),
  maxConcurrentStreams: count(
    'Partitions that a slot reads at the same time. With more partitions than slots have streams they take turns of a minute each.',
    { default: 16, min: 1, max: 256 },
  ),
  maxMutationBytes: size(
    'Size of one change, above which its partition stops at it and names its row. A change is held in memory as a whole.',
    { default: '64MiB', min: 2 ** 20, max: 256 * 2 ** 20 },
  ),
  preflight: choice(
    'Policy of the check before the first start: that the table has a change stream, and that the app profile routes to one cluster. A check that lacks its permission is a warning in any case.',
    ['strict', 'warn', 'off'],
    'strict',
  ),
  ...changeFilterOptions,
};

type ChangeStreamOptions = Output<typeof changeStreamOptions>;

/** A time in nanoseconds since the epoch, as decimal text. */
export type ResolvedPosition =
  | { readonly kind: 'latest' | 'earliest' }
  | { readonly kind: 'at'; readonly nanos: string }
  | { readonly kind: 'ago'; readonly millis: number };

export interface ResolvedStream {
  readonly start: ResolvedPosition;
  readonly fallback?: ResolvedPosition;
  /** Nanoseconds since the epoch, as decimal text. */
  readonly endNanos?: string;
  readonly maxConcurrentStreams: number;
  readonly maxMutationBytes: number;
  readonly preflight: 'strict' | 'warn' | 'off';
  /** Absent: everything is handed on. */
  readonly filter?: ResolvedChangeFilter;
}

export function streamOf(options: ChangeStreamOptions): ResolvedStream {
  const filter = changeFilterOf(options);
  return {
    start: positionOf(options.startPosition),
    ...(options.resumeFallback !== undefined && { fallback: positionOf(options.resumeFallback) }),
    ...(options.boundedTimestamp !== undefined && { endNanos: String(nanosOf(options.boundedTimestamp)) }),
    maxConcurrentStreams: options.maxConcurrentStreams,
    maxMutationBytes: options.maxMutationBytes,
    preflight: options.preflight,
    ...(filter && { filter }),
  };
}

function positionOf(written: WrittenPosition): ResolvedPosition {
  if (typeof written === 'string') return { kind: written };
  return 'at' in written ? { kind: 'at', nanos: String(nanosOf(written.at)) } : { kind: 'ago', millis: written.ago };
}
