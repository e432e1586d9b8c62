import type { ReceivedMessage } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { Delivery } from '../delivery/entry.ts';
import type { SubscriptionSettings } from '../delivery/settings.ts';
import type { Timing } from '../timing.ts';

/** Rules that pull and streaming pull share. Pure. */

const MAX_LEASE_SECONDS = 600;

/** The length of a lease that a consumer asks for, in the server's time; 0 ends a lease. @throws INVALID_ARGUMENT */
export function leaseMillis(seconds: number, timing: Timing): number {
  if (seconds < 0 || seconds > MAX_LEASE_SECONDS) {
    throw new GrpcError('INVALID_ARGUMENT', `ack deadline: must be from 0 to ${MAX_LEASE_SECONDS} s, got ${seconds}`);
  }
  return timing.shrink(seconds * 1000);
}

/** A delivery as a pulling consumer gets it. The attempt shows only with a dead-letter policy. */
export const received = (
  { ackId, message, attempt }: Delivery,
  { deadLetter }: SubscriptionSettings,
): ReceivedMessage => ({ ackId, message: message.wire, deliveryAttempt: deadLetter ? attempt : 0 });
