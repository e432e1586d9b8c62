import type { Clock } from '../base/clock.ts';
import { LEASE_MILLIS } from './lease.ts';

/** A moment by both clocks of an instance. */
export interface Moment {
  readonly wallMillis: number;
  readonly monotonicMillis: number;
}

export const momentOf = (clock: Clock): Moment => ({ wallMillis: clock.now(), monotonicMillis: clock.monotonic() });

/**
 * How long a lease surely lasts whose last confirmed write was sent at a moment, perhaps no longer at all. By the clock that
 * went further: the wall clock may have been set back, and the monotonic one may have stood still while the instance was
 * frozen. The store's own count begins later, when the write arrives. Pure.
 */
export const remainingOf = (sentAt: Moment, now: Moment): number =>
  LEASE_MILLIS - Math.max(now.wallMillis - sentAt.wallMillis, now.monotonicMillis - sentAt.monotonicMillis, 0);
