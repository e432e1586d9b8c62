import type { RedeliveryReason } from '../base/errors.ts';
import { isConnectionLoss, isMissingFamily, type Status, STATUSES } from '../model/status.ts';

/** What a status means for a request that was sent once. Pure. */
export type Verdict =
  /** Row level: the request is wrong, whatever the system's state. The only class that a dropping policy may see. */
  | { readonly kind: 'rejected' }
  /** The attempt was ended, not judged: by the clock, by the connection, by the service giving up, or by us. */
  | { readonly kind: 'ambiguous'; readonly isTimeout: boolean }
  | { readonly kind: 'fatal'; readonly reason: RedeliveryReason };

/**
 * The verdict on a failed attempt. The order matters: a missing table comes before everything, because acting on it never
 * discards a request; INVALID_ARGUMENT is the one status that gRPC defines as independent of the system's state.
 */
export function verdictOf(status: Status): Verdict {
  const { code } = status;
  if (code === 'NOT_FOUND') {
    return { kind: 'fatal', reason: isMissingFamily(status) ? 'missing-family' : 'missing-table' };
  }
  const { passes, leavesEffectOpen, blamesCall } = STATUSES[code];
  if ((leavesEffectOpen && passes === 'yes') || isConnectionLoss(status)) {
    return { kind: 'ambiguous', isTimeout: code === 'DEADLINE_EXCEEDED' };
  }
  if (blamesCall) return { kind: 'rejected' };
  return { kind: 'fatal', reason: passes === 'yes' ? 'transient' : 'refused' };
}
