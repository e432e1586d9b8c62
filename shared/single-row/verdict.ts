import type { RedeliveryReason } from '../base/errors.ts';
import { isMissingFamily, type Status, type StatusName } from '../model/status.ts';

/** What a status means for a request that was sent once. Pure. */
export type FailureClass =
  /** Row level: the request is wrong, whatever the system's state. The only class that a dropping policy may see. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'ambiguous'; readonly isTimeout: boolean }
  | { readonly kind: 'fatal'; readonly reason: RedeliveryReason };

/** The attempt was ended, not judged: by the clock, by the connection, by the service giving up, or by us. */
const AMBIGUOUS: ReadonlySet<StatusName> = new Set<StatusName>([
  'DEADLINE_EXCEEDED',
  'UNAVAILABLE',
  'ABORTED',
  'CANCELLED',
]);

/** How grpc-js reports a connection that was reset under a request (grpc-node#2625); other clients say UNAVAILABLE. */
const CONNECTION_LOST = 'RST_STREAM';

/**
 * The class of a failed attempt. The order matters: a missing table comes before everything, because acting on it never
 * discards a request; INVALID_ARGUMENT is the one status that gRPC defines as independent of the system's state.
 */
export function classify(status: Status): FailureClass {
  const { code, message } = status;
  if (code === 'NOT_FOUND') {
    return { kind: 'fatal', reason: isMissingFamily(status) ? 'missing-family' : 'missing-table' };
  }
  if (AMBIGUOUS.has(code) || (code === 'INTERNAL' && message.includes(CONNECTION_LOST))) {
    return { kind: 'ambiguous', isTimeout: code === 'DEADLINE_EXCEEDED' };
  }
  if (code === 'INVALID_ARGUMENT') return { kind: 'refused' };
  return { kind: 'fatal', reason: code === 'RESOURCE_EXHAUSTED' ? 'transient' : 'refused' };
}
