import type { RedeliveryReason } from '../base/errors.ts';
import type { RowCall } from '../model/row-call.ts';
import { isConnectionLoss, isMissingFamily, type Status, STATUSES } from '../model/status.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';

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

/** One attempt, as far as a message may speak of it: never its row. */
export interface Attempt {
  readonly method: RowCall['method'];
  readonly table: TableName;
  /** A replay meets the request's own marker. */
  readonly isGuarded: boolean;
}

/**
 * What a failed attempt means, for whoever reads the log or the answer: RPC, table, status, what is known of the effect,
 * what a replay does, and what to do. Pure. The service's own words are left out where they may quote the row.
 */
export function explain(attempt: Attempt, status: Status, verdict: Verdict): string {
  const call = `${attempt.method} on ${formatTableName(attempt.table)}`;
  switch (verdict.kind) {
    case 'rejected':
      return `${call} was refused (${status.code}): the request is invalid and was not applied`;
    case 'ambiguous':
      return `${call} ended with ${status.code}: it may or may not be applied. ${afterReplay(attempt)}${hint(attempt, status)}`;
    case 'fatal':
      return `${call} answered ${status.code}: ${meaning(status, verdict)}${hint(attempt, status)}`;
    default:
      return verdict satisfies never;
  }
}

/** What a replay does to a request whose effect is unknown. */
function afterReplay({ method, isGuarded }: Attempt): string {
  if (isGuarded) return 'A replay meets its marker if it was applied, and changes nothing then';
  return method === 'CheckAndMutateRow'
    ? 'Delivery is at least once: a replay evaluates the predicate again, against whatever the row holds then'
    : 'Delivery is at least once: a replay appends or increments again';
}

function meaning({ code, message }: Status, { reason }: Extract<Verdict, { kind: 'fatal' }>): string {
  if (reason === 'missing-table') {
    return 'not applied, because the table does not exist; create it or fix the destination';
  }
  if (reason === 'missing-family') {
    return 'not applied, because a column family that the request names does not exist; create it or fix the request';
  }
  return STATUSES[code].leavesEffectOpen ? `${message} (the status does not say whether it was applied)` : message;
}

/** A prerequisite that cannot be seen from here, not a diagnosis. Wrong profiles were answered FAILED_PRECONDITION (2026-08). */
function hint({ method }: Attempt, { code }: Status): string {
  if (method !== 'CheckAndMutateRow' && code !== 'FAILED_PRECONDITION') return '';
  return '. Single-row requests need an app profile with single-cluster routing that allows single-row transactions';
}
