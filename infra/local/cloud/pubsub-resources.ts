import { STATUS_CODES } from '../../../shared/model/status.ts';
import {
  PublisherDefinition,
  PushConfig,
  Subscription,
  SubscriberDefinition,
  Topic,
} from '../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { blank, createdNow, unary } from './unary.ts';
import { connectTo } from '../servers/rpc/client.ts';

/** What of a planned subscription Pub/Sub is told. */
export interface SubscriptionSettings {
  /** `projects/p/subscriptions/s` */
  readonly name: string;
  /** `projects/p/topics/t` */
  readonly topic: string;
  readonly isOrdered: boolean;
  readonly ackDeadlineSeconds: number;
  /** Default: Pub/Sub's own. */
  readonly retentionSeconds?: number;
  /** Absent: what is refused is delivered again at once. */
  readonly backoff?: { readonly minSeconds: number; readonly maxSeconds: number };
}

/**
 * Creates a subscription and its topic where they do not exist yet. One that exists gets the push endpoint, since ports
 * of local functions change. Never a dead-letter policy, as the plan says.
 *
 * @param pushEndpoint where messages are pushed; absent for a subscription that is pulled.
 */
export async function ensureSubscription(
  host: string,
  settings: SubscriptionSettings,
  pushEndpoint?: string,
): Promise<void> {
  const publisher = connectTo(PublisherDefinition, host);
  const subscriber = connectTo(SubscriberDefinition, host);
  try {
    const topic = { ...blank(Topic), name: settings.topic };
    await createdNow(unary(publisher.createTopic.bind(publisher), topic), STATUS_CODES.ALREADY_EXISTS);
    const pushConfig = pushEndpoint === undefined ? undefined : { ...blank(PushConfig), pushEndpoint };
    const wanted = { ...subscriptionMessage(settings), pushConfig };
    const creating = unary(subscriber.createSubscription.bind(subscriber), wanted);
    const isNew = await createdNow(creating, STATUS_CODES.ALREADY_EXISTS);
    if (isNew || !pushConfig) return;
    await unary(subscriber.modifyPushConfig.bind(subscriber), { subscription: settings.name, pushConfig });
  } finally {
    publisher.close();
    subscriber.close();
  }
}

const subscriptionMessage = ({
  name,
  topic,
  isOrdered,
  ackDeadlineSeconds,
  retentionSeconds,
  backoff,
}: SubscriptionSettings): Subscription => ({
  ...blank(Subscription),
  ...{ name, topic, ackDeadlineSeconds },
  enableMessageOrdering: isOrdered,
  messageRetentionDuration: retentionSeconds === undefined ? undefined : duration(retentionSeconds),
  retryPolicy: backoff && {
    minimumBackoff: duration(backoff.minSeconds),
    maximumBackoff: duration(backoff.maxSeconds),
  },
  // An empty policy is "never expires"; without one an idle subscription is deleted after 31 days.
  expirationPolicy: { ttl: undefined },
});

const duration = (seconds: number): { readonly seconds: bigint; readonly nanos: number } => ({
  seconds: BigInt(seconds),
  nanos: 0,
});

/** Turns a push subscription into one that waits to be pulled: no new message reaches the endpoint, none is lost. */
export async function stopPush(host: string, subscription: string): Promise<void> {
  const subscriber = connectTo(SubscriberDefinition, host);
  try {
    await unary(subscriber.modifyPushConfig.bind(subscriber), { subscription, pushConfig: blank(PushConfig) });
  } finally {
    subscriber.close();
  }
}
