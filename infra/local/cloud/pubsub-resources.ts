import { STATUS_CODES } from '../../../shared/model/status.ts';
import {
  PublisherDefinition,
  PushConfig,
  Subscription,
  SubscriberDefinition,
  Topic,
} from '../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { blank, createdNow, unary } from './unary.ts';
import { connectTo, type ClientOf } from '../servers/rpc/client.ts';

/** A pipeline's topic and the subscription that feeds its function, as a deployment sets them up. */
export interface PipelineSubscription {
  /** `projects/p/topics/t` */
  readonly topic: string;
  /** `projects/p/subscriptions/s` */
  readonly subscription: string;
  /** Where messages are pushed; absent for a subscription that is pulled. */
  readonly pushEndpoint?: string;
  /** Messages of one ordering key one after another. */
  readonly isOrdered: boolean;
  readonly ackDeadlineSeconds: number;
  /** What is given back is delivered again at once: people who look at dead letters do not wait for a backoff. */
  readonly isGivenBackAtOnce?: boolean;
}

const DAY_SECONDS = 86_400n;
const RETENTION = { seconds: 7n * DAY_SECONDS, nanos: 0 };
const MINIMUM_BACKOFF = { seconds: 10n, nanos: 0 };
const MAXIMUM_BACKOFF = { seconds: 600n, nanos: 0 };

/**
 * Creates topics and subscriptions that do not exist yet. A subscription that exists gets the push endpoint, since
 * ports of local functions change. Never a dead-letter policy: it counts attempts, so an outage would move good
 * messages; the sink classifies and publishes dead letters itself.
 */
export async function ensureSubscriptions(host: string, subscriptions: readonly PipelineSubscription[]): Promise<void> {
  const publisher = connectTo(PublisherDefinition, host);
  const subscriber = connectTo(SubscriberDefinition, host);
  try {
    for (const wanted of subscriptions) {
      const topic = { ...blank(Topic), name: wanted.topic };
      await createdNow(unary(publisher.createTopic.bind(publisher), topic), STATUS_CODES.ALREADY_EXISTS);
      await ensureSubscription(subscriber, wanted);
    }
  } finally {
    publisher.close();
    subscriber.close();
  }
}

async function ensureSubscription(
  subscriber: ClientOf<SubscriberDefinition>,
  wanted: PipelineSubscription,
): Promise<void> {
  const pushConfig =
    wanted.pushEndpoint === undefined ? undefined : { ...blank(PushConfig), pushEndpoint: wanted.pushEndpoint };
  const isNew = await createdNow(
    unary(subscriber.createSubscription.bind(subscriber), {
      ...blank(Subscription),
      name: wanted.subscription,
      topic: wanted.topic,
      pushConfig,
      enableMessageOrdering: wanted.isOrdered,
      ackDeadlineSeconds: wanted.ackDeadlineSeconds,
      messageRetentionDuration: RETENTION,
      retryPolicy: wanted.isGivenBackAtOnce
        ? undefined
        : { minimumBackoff: MINIMUM_BACKOFF, maximumBackoff: MAXIMUM_BACKOFF },
      // An empty policy is "never expires"; without one an idle subscription is deleted after 31 days.
      expirationPolicy: { ttl: undefined },
    }),
    STATUS_CODES.ALREADY_EXISTS,
  );
  if (isNew || !pushConfig) return;
  await unary(subscriber.modifyPushConfig.bind(subscriber), { subscription: wanted.subscription, pushConfig });
}

/** Turns a push subscription into one that waits to be pulled: no new message reaches the endpoint, none is lost. */
export async function stopPush(host: string, subscription: string): Promise<void> {
  const subscriber = connectTo(SubscriberDefinition, host);
  try {
    await unary(subscriber.modifyPushConfig.bind(subscriber), { subscription, pushConfig: blank(PushConfig) });
  } finally {
    subscriber.close();
  }
}
