import type { PubsubMessage } from '../../shared/proto/google/pubsub/v1/pubsub.ts';
import { startPubSubServer, type LocalPubSub } from '../../infra/local/servers/pubsub/server.ts';
import { createPulledTopic, type PulledTopic } from './pulled-topic.ts';

export const DEAD_LETTER_TOPIC = 'projects/p/topics/dead-letters';

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
  let topic: PulledTopic | undefined;
  return {
    pubsub,
    async createTopic() {
      topic = await createPulledTopic(pubsub.address, DEAD_LETTER_TOPIC);
    },
    pull: () => topic?.pull() ?? Promise.resolve([]),
    async close() {
      if (before === undefined) delete process.env.PUBSUB_EMULATOR_HOST;
      else process.env.PUBSUB_EMULATOR_HOST = before;
      topic?.close();
      await pubsub.close();
    },
  };
}
