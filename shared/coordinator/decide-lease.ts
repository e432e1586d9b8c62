import { hasRunOut, type Lease } from '../model/lease.ts';

/** How long a coordinator that fell silent keeps others out: two slots and a bit. */
export const LEASE_MILLIS = 25_000;

export type LeaseDecision =
  /** Nobody's, or its owner fell silent: a new owner, and so a new epoch. */
  | { readonly kind: 'acquire'; readonly lease: Lease }
  | { readonly kind: 'renew'; readonly lease: Lease }
  | { readonly kind: 'held'; readonly by: string; readonly expiresAt: number };

/**
 * Whose turn it is. Pure. What is decided holds only once it is committed against the version of the lease that was
 * read: of two coordinators that decide at once, one conflicts, whatever their clocks say.
 *
 * @param current the lease as it was read; undefined where there is none yet.
 * @param owner unique to one invocation.
 */
export function decideLease(current: Lease | undefined, owner: string, now: number): LeaseDecision {
  const expiresAt = now + LEASE_MILLIS;
  if (!current) return { kind: 'acquire', lease: { owner, epoch: 1, expiresAt } };
  // Also when it ran out: nobody took it, so nobody else decided anything since.
  if (current.owner === owner) return { kind: 'renew', lease: { ...current, expiresAt } };
  if (current.owner === '' || hasRunOut(current.expiresAt, now, LEASE_MILLIS)) {
    return { kind: 'acquire', lease: { owner, epoch: current.epoch + 1, expiresAt } };
  }
  return { kind: 'held', by: current.owner, expiresAt: current.expiresAt };
}

/** Given back, so that the next coordinator need not wait; undefined where it is another's, or nobody's, already. */
export const releaseLease = (current: Lease | undefined, owner: string, now: number): Lease | undefined =>
  current?.owner === owner ? { owner: '', epoch: current.epoch, expiresAt: now } : undefined;
