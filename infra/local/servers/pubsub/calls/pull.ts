import { onAbort } from '../../../../../shared/base/abort.ts';
import type { PullRequest, PullResponse } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { Delivery } from '../delivery/entry.ts';
import type { LiveSubscription } from '../resources/live-subscription.ts';
import type { Timing } from '../timing.ts';
import { received } from './leases.ts';

/** How long a pull waits for the first message before it answers with none. Time of the service. */
const MAX_WAIT_MILLIS = 30_000;

/** An answer's messages are cut here, well under what a client takes at once. */
const MAX_ANSWER_BYTES = 10_000_000;

/** Answers one Pull: with what is there, or with the first that comes while the caller waits. */
export async function pull(
  subscription: LiveSubscription,
  { maxMessages, returnImmediately }: PullRequest,
  timing: Timing,
  signal: AbortSignal,
): Promise<PullResponse> {
  if (maxMessages <= 0) throw new GrpcError('INVALID_ARGUMENT', `max_messages: must be above 0, got ${maxMessages}`);
  refusePushOnly(subscription);
  const take = (): Delivery[] =>
    subscription.take({ messages: maxMessages, bytes: MAX_ANSWER_BYTES }, subscription.settings.ackDeadlineMillis);
  let deliveries = take();
  if (deliveries.length === 0 && !returnImmediately) {
    deliveries = await firstDeliveries(subscription, take, timing, signal);
  }
  return { receivedMessages: deliveries.map((delivery) => received(delivery, subscription.settings)) };
}

/** @throws FAILED_PRECONDITION: a push subscription delivers to its endpoint alone. */
export function refusePushOnly({ settings }: LiveSubscription): void {
  if (settings.push) {
    throw new GrpcError('FAILED_PRECONDITION', `subscription ${settings.name}: delivers by push and cannot be pulled`);
  }
}

function firstDeliveries(
  subscription: LiveSubscription,
  take: () => Delivery[],
  timing: Timing,
  signal: AbortSignal,
): Promise<Delivery[]> {
  return new Promise((resolve) => {
    const finish = (deliveries: Delivery[]): void => {
      detach();
      cancelWait();
      forget();
      resolve(deliveries);
    };
    const giveUp = (): void => {
      finish([]);
    };
    let isDone = false;
    const cancelWait = timing.clock.after(timing.shrink(MAX_WAIT_MILLIS), giveUp);
    const forget = onAbort(signal, giveUp);
    const detach = subscription.attach({
      pump: () => {
        if (isDone) return false;
        const deliveries = take();
        isDone = deliveries.length > 0 || subscription.closedBy !== undefined;
        // The consumer list is being walked: leave it first.
        if (isDone)
          queueMicrotask(() => {
            finish(deliveries);
          });
        return deliveries.length > 0;
      },
    });
  });
}
