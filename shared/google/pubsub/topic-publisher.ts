import { openPubSub } from './client.ts';

/** A message on its way to a topic. */
export interface TopicMessage {
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey?: string;
}

export interface TopicPublisher {
  /** Resolves when the service confirmed the message; rejects with its status after the client's own retries. */
  publish(message: TopicMessage): Promise<void>;
  close(): Promise<void>;
}

/** Longest time for one publish request, its retries included. */
const PUBLISH_TIMEOUT_MILLIS = 60_000;

/**
 * Publishes to one topic in batches, over the official client. After a failed message of an ordering key the later
 * ones of that key fail too, so that their order is kept.
 *
 * @param topic `projects/p/topics/t`.
 */
export async function openTopicPublisher(
  topic: string,
  { isOrdered }: { readonly isOrdered: boolean },
): Promise<TopicPublisher> {
  const client = await openPubSub(topic);
  const handle = client.topic(topic, {
    messageOrdering: isOrdered,
    batching: { maxMessages: 500, maxBytes: 4 * 1024 * 1024, maxMilliseconds: 10 },
    gaxOpts: { timeout: PUBLISH_TIMEOUT_MILLIS },
  });
  return {
    async publish({ data, attributes, orderingKey }) {
      await handle.publishMessage({ data, attributes, ...(orderingKey !== undefined && { orderingKey }) });
    },
    async close() {
      await handle.flush();
      await client.close();
    },
  };
}
