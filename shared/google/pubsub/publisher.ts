import type { PubSub, Topic } from '@google-cloud/pubsub';
import { abortable } from '../../base/abort.ts';
import { abortReason, type Clock } from '../../base/clock.ts';
import { ConnectorError } from '../../base/errors.ts';
import { lazy } from '../../base/lazy.ts';
import type { OutgoingMessage, Publisher } from '../../model/publishing.ts';
import { openPubSub } from './client.ts';

export interface PublisherOptions {
  /** `projects/p/topics/t`, or a topic id of the function's own project. */
  readonly topic: string;
  /** Whether messages have ordering keys. Default: no. */
  readonly isOrdered?: boolean;
  /** Longest time for one publish request, its retries included. Default: a minute. */
  readonly publishTimeoutMillis?: number;
  /** Longest time that `close` waits for messages on their way. */
  readonly shutdownTimeoutMillis: number;
}

export interface OpenablePublisher extends Publisher {
  /** Connects now and not at the first message. Rejects where there are no credentials. */
  open(): Promise<void>;
}

const PUBLISH_TIMEOUT_MILLIS = 60_000;

/** What is due together goes out together: after so many messages, so many bytes, or so long. */
const BATCHING = { maxMessages: 500, maxBytes: 4 * 1024 * 1024, maxMilliseconds: 10 };

/**
 * One topic over the official client, which is loaded when the first message is due. After a failed message of an
 * ordering key all later ones of that key fail too, whatever the status, until the publisher is closed: none is
 * published behind a gap.
 */
export function createPublisher(options: PublisherOptions, clock: Clock): OpenablePublisher {
  const { topic, isOrdered = false, publishTimeoutMillis = PUBLISH_TIMEOUT_MILLIS, shutdownTimeoutMillis } = options;
  let isOpened = false;
  const failedKeys = new FailedKeys();
  /** Publishes that nobody has answered yet, those that were given up included: the client's own flush forgets them. */
  const outstanding = new Set<Promise<unknown>>();
  const opened = lazy(async (): Promise<{ readonly handle: Topic; readonly client: PubSub }> => {
    isOpened = true;
    const client = await openPubSub(topic);
    const gaxOpts = { timeout: publishTimeoutMillis };
    return { client, handle: client.topic(topic, { messageOrdering: isOrdered, batching: BATCHING, gaxOpts }) };
  });

  const send = (handle: Topic, { data, attributes, orderingKey = '' }: OutgoingMessage): Promise<unknown> => {
    if (orderingKey === '') return handle.publishMessage({ data, attributes });
    failedKeys.check(orderingKey);
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    // By a callback: the client forgets the failure soon after it told of it, and a promise would tell later.
    handle.publishMessage({ data, attributes, orderingKey }, (error) => {
      if (error) {
        failedKeys.add(orderingKey, error);
        reject(error);
      } else resolve(undefined);
    });
    return promise;
  };

  return {
    async open() {
      await opened();
    },
    async publish(message, signal) {
      if (signal?.aborted) throw abortReason(signal);
      // In one way for all, so that messages go out in the order of their calls.
      const publishing = opened().then(({ handle }) => {
        if (signal?.aborted) throw abortReason(signal);
        return send(handle, message);
      });
      outstanding.add(publishing);
      const forget = (): void => {
        outstanding.delete(publishing);
      };
      publishing.then(forget, forget);
      // A publish that is on its way cannot be cancelled: a message that was given up may still arrive.
      await (signal ? abortable(publishing, signal) : publishing);
    },
    async close() {
      if (!isOpened) return;
      const { handle, client } = await opened();
      const timeout = new AbortController();
      const cancel = clock.after(shutdownTimeoutMillis, () => {
        timeout.abort(new Error(`shutdownTimeout of ${shutdownTimeoutMillis} ms was used up`));
      });
      try {
        // Each message's own publish told how it ended; here only that it ended matters.
        await abortable(Promise.allSettled([handle.flush(), ...outstanding]), timeout.signal);
      } finally {
        cancel();
        await client.close();
      }
    },
  };
}

/** A message was not published, because an earlier one of its ordering key was not. */
export class OrderingError extends ConnectorError {
  override readonly name = 'OrderingError';
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
