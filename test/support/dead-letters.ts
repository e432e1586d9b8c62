import { credentials } from '@grpc/grpc-js';
import { ensureSubscriptions } from '../../infra/local/pubsub-resources.ts';
import { type PubsubMessage, SubscriberClient } from '../../infra/local/proto/google/pubsub/v1/pubsub.ts';
import { startPubSubServer, type LocalPubSub } from '../../infra/local/pubsub/server.ts';
import { unary } from '../../infra/local/unary.ts';

export const DEAD_LETTER_TOPIC = 'projects/p/topics/dead-letters';
const SUBSCRIPTION = 'projects/p/subscriptions/dead-letters';

export interface DeadLetters {
  readonly pubsub: LocalPubSub;
  /** Creates the topic, and a subscription that keeps what is published to it. */
  createTopic(): Promise<void>;
  /** Takes everything published since the last call, in order. */
  pull(): Promise<PubsubMessage[]>;
  close(): Promise<void>;
}

/**
 * An embedded Pub/Sub that `PUBSUB_EMULATOR_HOST` of this process points to until it is closed: the official client
 * that publishes dead letters reads it there.
 */
export async function startDeadLetters(): Promise<DeadLetters> {
  const pubsub = await startPubSubServer();
  const before = process.env.PUBSUB_EMULATOR_HOST;
  process.env.PUBSUB_EMULATOR_HOST = pubsub.address;
  const options = { 'grpc.max_receive_message_length': -1 };
  const subscriber = new SubscriberClient(pubsub.address, credentials.createInsecure(), options);
  let isCreated = false;
  return {
    pubsub,
    async createTopic() {
      const queue = { topic: DEAD_LETTER_TOPIC, subscription: SUBSCRIPTION, isOrdered: false, ackDeadlineSeconds: 60 };
      await ensureSubscriptions(pubsub.address, [queue]);
      isCreated = true;
    },
    async pull() {
      if (!isCreated) return [];
      const { receivedMessages } = await unary(subscriber.pull.bind(subscriber), {
        subscription: SUBSCRIPTION,
        returnImmediately: true,
        maxMessages: 1000,
      });
      const ackIds = receivedMessages.map(({ ackId }) => ackId);
      if (ackIds.length > 0) {
        await unary(subscriber.acknowledge.bind(subscriber), { subscription: SUBSCRIPTION, ackIds });
      }
      return receivedMessages.flatMap(({ message }) => (message ? [message] : []));
    },
    async close() {
      if (before === undefined) delete process.env.PUBSUB_EMULATOR_HOST;
      else process.env.PUBSUB_EMULATOR_HOST = before;
      subscriber.close();
      await pubsub.close();
    },
  };
}
