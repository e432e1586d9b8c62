import type { PublisherDefinition, SubscriberDefinition } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import type { CallEffect, CallsOf } from '../rpc/faults.ts';

/** What happens on a subscription without an RPC of its own. */
interface OnSubscription<Effect> {
  readonly request: { readonly subscription: string };
  readonly effect: Effect;
}

/** A stream can go wrong only while it is opened. */
type OpeningEffect = Extract<CallEffect, { readonly kind: 'refuse' | 'delay' }>;

/**
 * What can go wrong in the local Pub/Sub: its RPCs, by their names in the protos, and deliveries. Delays are milliseconds
 * as they are: the time scale does not shorten them.
 */
export interface PubSubCalls extends Omit<
  CallsOf<PublisherDefinition> & CallsOf<SubscriberDefinition>,
  'StreamingPull'
> {
  readonly StreamingPull: OnSubscription<OpeningEffect>;
  /** A lease is acknowledged: answered as good, and lost, so that the message is delivered again. */
  readonly Acknowledgement: OnSubscription<{ readonly kind: 'lose' }>;
  /** A message is delivered: it jumps ahead of up to `span` others (default 10) that are ready; the order within a key holds. */
  readonly Delivery: OnSubscription<{ readonly kind: 'reorder'; readonly span?: number }>;
  /** A push is sent: only after this time, which counts against its deadline. */
  readonly Push: OnSubscription<{ readonly kind: 'delay'; readonly delayMillis: number }>;
}

/** For a rule: what happens on the subscription with this full name. */
export const onSubscription =
  (name: string) =>
  ({ subscription }: { readonly subscription: string }): boolean =>
    subscription === name;
