import type { StreamPartition } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import type { Duration } from '../../../../../shared/proto/google/protobuf/duration.ts';
import type { Timestamp } from '../../../../../shared/proto/google/protobuf/timestamp.ts';
import { bytesOf, latin1 } from '../rows/row.ts';

/** Nanoseconds since the epoch, or of a duration. */
export type Nanos = bigint;

/** Row keys from `start` up to, not including, `end`, as latin1. An empty `end` is that of the table. */
export interface Span {
  readonly start: string;
  readonly end: string;
}

export const WHOLE: Span = { start: '', end: '' };

export const contains = ({ start, end }: Span, key: string): boolean => key >= start && (end === '' || key < end);

export const isSameSpan = (left: Span, right: Span): boolean => left.start === right.start && left.end === right.end;

/** Order of two ends, of which an empty one is the last: negative, zero or positive. */
export function compareEnds(left: string, right: string): number {
  if (left === right) return 0;
  if (left === '') return 1;
  if (right === '') return -1;
  return left < right ? -1 : 1;
}

/** The keys that both have; undefined where there are none. */
export function intersection(left: Span, right: Span): Span | undefined {
  const start = left.start > right.start ? left.start : right.start;
  const end = compareEnds(left.end, right.end) < 0 ? left.end : right.end;
  return end === '' || start < end ? { start, end } : undefined;
}

export const isEmptySpan = ({ start, end }: Span): boolean => end !== '' && start >= end;

/** As the service names partitions: both ends are set, and empty where there is no bound. */
export const partitionOf = ({ start, end }: Span): StreamPartition => ({
  rowRange: {
    startKey: { $case: 'startKeyClosed', value: bytesOf(start) },
    endKey: { $case: 'endKeyOpen', value: bytesOf(end) },
  },
});

/** Undefined for a partition in any other form. */
export function spanOf(partition: StreamPartition | undefined): Span | undefined {
  const { startKey, endKey } = partition?.rowRange ?? {};
  if (startKey?.$case !== 'startKeyClosed' || endKey?.$case !== 'endKeyOpen') return undefined;
  const span = { start: latin1(startKey.value), end: latin1(endKey.value) };
  return isEmptySpan(span) ? undefined : span;
}

const NANOS_PER_SECOND = 1_000_000_000n;

export const timestampOf = (nanos: Nanos): Timestamp => ({
  seconds: nanos / NANOS_PER_SECOND,
  nanos: Number(nanos % NANOS_PER_SECOND),
});

export const nanosOf = ({ seconds, nanos }: Timestamp | Duration): Nanos => seconds * NANOS_PER_SECOND + BigInt(nanos);
