import type { PubsubMessage } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import type { Entry } from './entry.ts';
import { parseName } from './names.ts';
import { rfc3339OfMicros } from '../rpc/proto-time.ts';

/**
 * What a dead-letter policy publishes in place of a message: data, attributes and ordering key of the original, and
 * four attributes that say where it came from (cloud.google.com/pubsub/docs/dead-letter-topics). Pure.
 */
export function deadLetter({ message, attempts }: Entry, subscription: string): PubsubMessage {
  const { project, id } = parseName('subscriptions', subscription);
  const { data, attributes, orderingKey } = message.wire;
  return {
    data,
    orderingKey,
    attributes: {
      ...attributes,
      CloudPubSubDeadLetterSourceDeliveryCount: String(attempts),
      CloudPubSubDeadLetterSourceSubscription: id,
      CloudPubSubDeadLetterSourceSubscriptionProject: project,
      CloudPubSubDeadLetterSourceTopicPublishTime: rfc3339OfMicros(message.publishMicros),
    },
    messageId: '',
    publishTime: undefined,
  };
}
