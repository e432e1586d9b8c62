import { type PubsubMessage, SubscriberDefinition } from '../../shared/proto/google/pubsub/v1/pubsub.ts';
import { ensureSubscription } from '../../infra/local/cloud/pubsub-resources.ts';
import { unary } from '../../infra/local/cloud/unary.ts';
import { connectTo } from '../../infra/local/servers/rpc/client.ts';

export interface PulledTopic {
  /** Takes everything published since the last call, in order. */
  pull(): Promise<PubsubMessage[]>;
  close(): void;
}

/** Creates a topic of an embedded Pub/Sub, with a subscription that keeps what is published to it. */
export async function createPulledTopic(address: string, topic: string): Promise<PulledTopic> {
  const subscription = topic.replace('/topics/', '/subscriptions/');
  await ensureSubscription(address, { topic, name: subscription, isOrdered: false, ackDeadlineSeconds: 60 });
  const options = { 'grpc.max_receive_message_length': -1 };
  const subscriber = connectTo(SubscriberDefinition, address, options);
  return {
    async pull() {
      const { receivedMessages } = await unary(subscriber.pull.bind(subscriber), {
        subscription,
        returnImmediately: true,
        maxMessages: 1000,
      });
      const ackIds = receivedMessages.map(({ ackId }) => ackId);
      if (ackIds.length > 0) await unary(subscriber.acknowledge.bind(subscriber), { subscription, ackIds });
      return receivedMessages.flatMap(({ message }) => (message ? [message] : []));
    },
    close() {
      subscriber.close();
    },
  };
}
