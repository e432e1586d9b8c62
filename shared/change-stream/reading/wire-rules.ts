import { ConnectorError } from '../../base/errors.ts';
import type { Nanos } from '../../model/change.ts';
import { type Bound, closedBound, openBound, type RowRange } from '../../model/row-range.ts';
import type { StreamPartition } from '../../proto/google/bigtable/v2/data.ts';
import type { Timestamp } from '../../proto/google/protobuf/timestamp.ts';

/** What came is no answer that `ReadChangeStream` can have. Nothing of it may be used. */
export class StreamProtocolError extends ConnectorError {
  override readonly name = 'StreamProtocolError';

  constructor(rule: string, options?: ErrorOptions) {
    super(`the answer broke its protocol: ${rule}`, options);
  }
}

/** A change is larger than the pipeline holds in memory. */
export class ChangeTooLargeError extends ConnectorError {
  override readonly name = 'ChangeTooLargeError';
}

const NANOS_PER_SECOND = 1_000_000_000n;

/** Throws a {@link StreamProtocolError} where the nanoseconds of a second are not below a second. */
export function nanosOf(timestamp: Timestamp | undefined): Nanos {
  const { seconds = 0n, nanos = 0 } = timestamp ?? {};
  if (nanos < 0 || nanos >= 1e9) throw new StreamProtocolError('a time is none');
  return seconds * NANOS_PER_SECOND + BigInt(nanos);
}

/** For times since the epoch, which are never negative here. */
export const wireTime = (nanos: Nanos): Timestamp => ({
  seconds: nanos / NANOS_PER_SECOND,
  nanos: Number(nanos % NANOS_PER_SECOND),
});

/** The range of a partition as the service names it. A bound of the empty key, or none, is unbounded. */
export function partitionRange(partition: StreamPartition | undefined): RowRange {
  const { startKey, endKey } = partition?.rowRange ?? {};
  if (startKey?.$case === 'startKeyOpen' || endKey?.$case === 'endKeyClosed') {
    throw new StreamProtocolError('a partition has no range from a closed to an open bound');
  }
  return { start: closedBound(startKey?.value ?? NO_KEY), end: openBound(endKey?.value ?? NO_KEY) };
}

/** The range of a partition as requests have it: both sides are said outright, with an empty key where there is no bound. */
export const wirePartition = ({ start, end }: RowRange): StreamPartition => ({
  rowRange: {
    startKey: { $case: 'startKeyClosed', value: keyOf(start) },
    endKey: { $case: 'endKeyOpen', value: keyOf(end) },
  },
});

const keyOf = (bound: Bound): Buffer => (bound.kind === 'unbounded' ? NO_KEY : bound.key);

const NO_KEY = Buffer.alloc(0);
