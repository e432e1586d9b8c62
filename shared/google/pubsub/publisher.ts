import type { PubSub, Topic } from '@google-cloud/pubsub';
import { abortable, onAbort } from '../../base/abort.ts';
import { abortReason, type Clock } from '../../base/clock.ts';
import { ConnectorError, toError } from '../../base/errors.ts';
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
  /** Once the first message is handed over. */
  let ready: Topic | undefined;
  const failedKeys = new FailedKeys();
  const outstanding = new Outstanding();
  const opened = lazy(async (): Promise<{ readonly topic: Topic; readonly client: PubSub }> => {
    isOpened = true;
    const client = await openPubSub(topic);
    const gaxOpts = { timeout: publishTimeoutMillis };
    const handle = client.topic(topic, { messageOrdering: isOrdered, batching: BATCHING, gaxOpts });
    handle.request = requestAsItIs(client, handle);
    return { client, topic: handle };
  });

  /**
   * `told` is called once, unless this throws because of an earlier message of the key. No promise: of many messages they
   * would cost more than all else.
   */
  const send = (to: Topic, { data, attributes, orderingKey = '' }: OutgoingMessage, told: Told): void => {
    const isKeyed = orderingKey !== '';
    let isTold = false;
    const end = (error: Error | null): void => {
      if (isTold) return;
      isTold = true;
      outstanding.remove();
      // Here and not later: the client forgets the failure soon after it told of it.
      if (error && isKeyed) failedKeys.add(orderingKey, error);
      told(error ?? undefined);
    };
    if (isKeyed) failedKeys.check(orderingKey);
    outstanding.add();
    try {
      to.publishMessage({ data, attributes, ...(isKeyed && { orderingKey }) }, end);
    } catch (error) {
      end(toError(error));
    }
  };

  /** Hands messages over in the order of the calls: those that came before the client was there are ahead of all later ones. */
  const handOver = (message: OutgoingMessage, signal: AbortSignal | undefined, told: Told): void => {
    if (ready) {
      try {
        send(ready, message, told);
      } catch (error) {
        told(toError(error));
      }
      return;
    }
    opened()
      .then(({ topic: to }) => {
        ready = to;
        if (signal?.aborted) throw abortReason(signal);
        send(to, message, told);
      })
      .catch((error: unknown) => {
        told(toError(error));
      });
  };

  return {
    async open() {
      await opened();
    },
    publish(message, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) throw abortReason(signal);
        // A publish that is on its way cannot be cancelled: a message that was given up may still arrive.
        const forget =
          signal &&
          onAbort(signal, () => {
            reject(abortReason(signal));
          });
        handOver(message, signal, (error) => {
          forget?.();
          if (error) reject(error);
          else resolve();
        });
      });
    },
    async close() {
      if (!isOpened) return;
      const { topic: to, client } = await opened();
      const timeout = new AbortController();
      const cancel = clock.after(shutdownTimeoutMillis, () => {
        timeout.abort(new Error(`shutdownTimeout of ${shutdownTimeoutMillis} ms was used up`));
      });
      try {
        // Each message's own publish told how it ended; here only that it ended matters.
        await abortable(Promise.allSettled([to.flush(), outstanding.none()]), timeout.signal);
      } finally {
        cancel();
        await client.close();
      }
    },
  };
}

/**
 * The client's own way to a request (6.3.0) copies all of it and replaces the text `{{projectId}}` wherever it finds it, in
 * the attributes of messages too: they would arrive changed, at the price of all other work on them.
 */
const requestAsItIs =
  (client: PubSub, { name }: Topic): Topic['request'] =>
  (config, callback) => {
    const { method, reqOpts, gaxOpts } = config;
    if (!client.isOpen) {
      client.request(config, callback);
      return;
    }
    client.getClient_(config, (error, api) => {
      const call = api?.[method];
      if (error || !call) {
        callback((error ?? new TypeError(`the client has no ${method}`)) as Parameters<typeof callback>[0]);
        return;
      }
      // The topic of a function's own project is named once that is known.
      const topic = name.replace('{{projectId}}', client.projectId);
      call.call(api, { ...reqOpts, topic }, gaxOpts, callback);
    });
  };

/** Takes why a message was not published; undefined: it was. */
type Told = (error: Error | undefined) => void;

/** Publishes that nobody has answered yet, those that were given up included: the client's own flush forgets them. */
class Outstanding {
  #count = 0;
  #idle: PromiseWithResolvers<undefined> | undefined;

  add(): void {
    this.#count += 1;
  }

  remove(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    this.#idle?.resolve(undefined);
    this.#idle = undefined;
  }

  /** Resolves when there is none. */
  none(): Promise<undefined> {
    if (this.#count === 0) return Promise.resolve(undefined);
    this.#idle ??= Promise.withResolvers<undefined>();
    return this.#idle.promise;
  }
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
