import { ConnectorError } from '../../base/errors.ts';
import type { Nanos } from '../../model/change.ts';
import { CLOCK_SKEW_MILLIS } from '../../model/lease.ts';
import { nanosOf } from './position-of.ts';
import { clampToRetention, earliestOf, formatNanos, MARGIN_MILLIS } from './retention.ts';

/** Where a source starts. Pure. */

export type StartPosition =
  /** The earliest change that the service surely keeps. */
  | { readonly kind: 'earliest' }
  /** Now, or a little before: the service refuses a start that lies in its future, and clocks differ. */
  | { readonly kind: 'latest' }
  | { readonly kind: 'at'; readonly time: Nanos }
  | { readonly kind: 'ago'; readonly millis: number };

export class StartPositionError extends ConnectorError {
  override readonly name = 'StartPositionError';
}

/** A start that was resolved, once. */
export interface ResolvedStart {
  readonly startTime: Nanos;
  /** It was asked for something older than the service keeps: so much is left out. */
  readonly clamped?: { readonly requested: Nanos; readonly earliest: Nanos; readonly lostMillis: number };
}

/** The time that was asked for. Undefined: the earliest. To be asked before anything is read: a start in the future is refused. */
export function requestedStart(start: StartPosition, now: number): Nanos | undefined {
  switch (start.kind) {
    case 'earliest':
      return undefined;
    case 'latest':
      return latestOf(now);
    case 'at':
      return notInFuture(start.time, now);
    case 'ago':
      if (start.millis > 0 && Number.isFinite(start.millis)) return notInFuture(nanosOf(now - start.millis), now);
      throw new StartPositionError('startPosition.ago must be above zero');
    default:
      return start satisfies never;
  }
}

const latestOf = (now: number): Nanos => nanosOf(now - CLOCK_SKEW_MILLIS);

function notInFuture(time: Nanos, now: number): Nanos {
  if (time < 0n) throw new StartPositionError('startPosition lies before 1970: no service has changes of that time');
  if (time > nanosOf(now)) throw new StartPositionError(`startPosition ${formatNanos(time)} lies in the future`);
  const latest = latestOf(now);
  return time > latest ? latest : time;
}

/**
 * @param retentionMillis absent where it may not be read: then only `earliest` cannot be resolved, and the service itself
 *   refuses what it does not keep. Not asked for `latest`.
 */
export function resolveStart(start: StartPosition, now: number, retentionMillis: number | undefined): ResolvedStart {
  const requested = requestedStart(start, now);
  if (start.kind === 'latest' && requested !== undefined) return { startTime: requested };
  if (retentionMillis !== undefined && retentionMillis <= MARGIN_MILLIS) {
    throw new StartPositionError('the retention of the change stream must be longer than a minute');
  }
  if (requested === undefined) {
    if (retentionMillis !== undefined) return { startTime: earliestOf(retentionMillis, now) };
    throw new StartPositionError(
      'startPosition "earliest" needs the retention of the change stream: grant bigtable.tables.get to the service account of coordinate, or name a time',
    );
  }
  const { lowWatermark, isClamped } = clampToRetention(requested, {
    now,
    ...(retentionMillis !== undefined && { retentionMillis }),
  });
  if (!isClamped) return { startTime: requested };
  const lostMillis = Number((lowWatermark - requested) / 1_000_000n);
  return { startTime: lowWatermark, clamped: { requested, earliest: lowWatermark, lostMillis } };
}
