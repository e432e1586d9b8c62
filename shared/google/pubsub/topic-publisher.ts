import { ConnectorError } from '../../base/errors.ts';
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

/** A message was not published, because an earlier one of its ordering key was not. */
export class OrderingError extends ConnectorError {
  override readonly name = 'OrderingError';
}

/**
 * Publishes to one topic in batches, over the official client. After a failed message of an ordering key all later ones
 * of that key fail too, whatever the status, until the publisher is closed: none is published behind a gap.
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
  const failedKeys = new FailedKeys();
  return {
    async publish({ data, attributes, orderingKey = '' }) {
      if (orderingKey === '') {
        await handle.publishMessage({ data, attributes });
        return;
      }
      failedKeys.check(orderingKey);
      const { promise, resolve, reject } = Promise.withResolvers<undefined>();
      // By a callback: the client forgets the failure soon after it told of it, and a promise would tell later.
      handle.publishMessage({ data, attributes, orderingKey }, (error) => {
        if (error) {
          failedKeys.add(orderingKey, error);
          reject(error);
        } else resolve(undefined);
      });
      await promise;
    },
    async close() {
      await handle.flush();
      await client.close();
    },
  };
}

/** Beyond so many nothing that has a key is published any more: memory is bounded, and no order is guessed at. */
const MAX_FAILED_KEYS = 10_000;
/** The client's account of its retries goes on for pages. */
const MAX_REASON = 200;

/**
 * Ordering keys of which a message failed, with the first failure of each. The client (6.3.0) remembers a failure only
 * until its queue of the key is empty, and would then publish the next message behind the gap.
 */
class FailedKeys {
  readonly #reasons = new Map<string, string>();

  /** Throws an {@link OrderingError} where nothing more of a key may be published. */
  check(key: string): void {
    if (this.#reasons.size === 0) return;
    const reason = this.#reasons.get(key);
    if (reason !== undefined) {
      throw new OrderingError(`not published, because an earlier message of its ordering key failed: ${reason}`);
    }
    if (this.#reasons.size >= MAX_FAILED_KEYS) {
      throw new OrderingError(`not published, because messages of ${MAX_FAILED_KEYS} ordering keys failed`);
    }
  }

  add(key: string, { message }: Error): void {
    if (!this.#reasons.has(key)) this.#reasons.set(key, message.slice(0, MAX_REASON));
  }
}
