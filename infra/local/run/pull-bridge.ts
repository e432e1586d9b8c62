import type { Message } from '@google-cloud/pubsub';
import { systemClock, type Clock } from '../../../shared/base/clock.ts';
import { ConnectorError } from '../../../shared/base/errors.ts';
import { PUSH_BACKOFF_BOUNDS } from '../servers/pubsub/delivery/backoff.ts';
import { rfc3339OfMicros } from '../servers/rpc/proto-time.ts';
import { wrappedRequest, type PushRequest } from '../servers/pubsub/push/push-body.ts';
import { isAcknowledgement, PushClient } from '../servers/pubsub/push/push-client.ts';
import { PushPace } from '../servers/pubsub/push/push-pace.ts';

export interface PullBridgeOptions {
  /** `host:port` of Google's emulator. */
  readonly pubsubHost: string;
  readonly projectId: string;
  /** Full name or id of a subscription without a push endpoint. */
  readonly subscription: string;
  /** Where messages are posted. */
  readonly endpoint: string;
  /** Posts that may be under way at once; at least 1. */
  readonly concurrency: number;
  /** Closes the bridge when it aborts. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Told when the stream of messages breaks for good. Default: a process warning. */
  readonly onError?: (error: PullBridgeError) => void;
}

export interface PullBridge {
  readonly counters: { readonly delivered: number; readonly acked: number; readonly nacked: number };
  /** Gives up what is under way, which is delivered again to whoever pulls next, and ends the stream. */
  close(): Promise<void>;
}

/** The bridge cannot go on pulling. */
export class PullBridgeError extends ConnectorError {
  override readonly name = 'PullBridgeError';
}

/**
 * Pushes for Google's Pub/Sub emulator, whose own push delivers two messages at a time: pulls with the official client
 * and posts the wrapped body of a push. The endpoint's status acknowledges or refuses; a post may take as long as the
 * subscription's ack deadline. Refused messages are held back as by the service's push backoff before they are nacked,
 * because the emulator would deliver them again at once.
 */
export async function startPullBridge(options: PullBridgeOptions): Promise<PullBridge> {
  const { pubsubHost, projectId, endpoint, concurrency, clock = systemClock } = options;
  const { PubSub } = await import('@google-cloud/pubsub');
  const client = new PubSub({ projectId, apiEndpoint: pubsubHost, emulatorMode: true });
  const subscription = client.subscription(options.subscription, {
    flowControl: { maxMessages: concurrency, allowExcessMessages: false },
    streamingOptions: { maxStreams: 1 },
    batching: { maxMilliseconds: 10 },
  });
  const [metadata] = await subscription.getMetadata().catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  const posts = new Posts(endpoint, concurrency, (metadata.ackDeadlineSeconds ?? 10) * 1000, clock);
  subscription.on('message', (message: Message) => {
    posts.post(message, subscription.name);
  });
  subscription.on('error', (cause: unknown) => {
    const error = new PullBridgeError(
      `pulling ${subscription.name} from ${pubsubHost} failed; start the bridge again`,
      {
        cause,
      },
    );
    if (options.onError) options.onError(error);
    else process.emitWarning(error);
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      posts.giveUp();
      await subscription.close();
      posts.close();
      await client.close();
    })());
  if (options.signal?.aborted) await close();
  options.signal?.addEventListener(
    'abort',
    () => {
      close().catch((error: unknown) => {
        process.emitWarning(new PullBridgeError('closing the bridge failed', { cause: error }));
      });
    },
    { once: true },
  );
  return { counters: posts.counters, close };
}

/** The posts of one bridge. A message is under way from its arrival until it is acknowledged or nacked. */
class Posts {
  readonly counters = { delivered: 0, acked: 0, nacked: 0 };
  readonly #client: PushClient;
  readonly #deadlineMillis: number;
  readonly #clock: Clock;
  readonly #pace: PushPace;
  /** What refuses each message that is under way, at once. */
  readonly #underWay = new Map<Message, () => void>();
  #isGivenUp = false;

  constructor(endpoint: string, concurrency: number, deadlineMillis: number, clock: Clock) {
    this.#client = new PushClient(endpoint, concurrency);
    this.#deadlineMillis = deadlineMillis;
    this.#clock = clock;
    this.#pace = new PushPace({ start: concurrency, cap: concurrency }, PUSH_BACKOFF_BOUNDS);
  }

  post(message: Message, subscription: string): void {
    if (this.#isGivenUp) {
      message.nack();
      return;
    }
    this.counters.delivered += 1;
    const startedAt = this.#clock.now();
    const postNumber = this.#pace.start();
    const abort = this.#client.post(requestOf(message, subscription), (status) => {
      cancelDeadline();
      if (!this.#underWay.has(message)) return;
      if (isAcknowledgement(status)) {
        this.#pace.acknowledged(this.#clock.now() - startedAt);
        this.#underWay.delete(message);
        this.counters.acked += 1;
        message.ack();
      } else this.#refuseLater(message, postNumber);
    });
    const cancelDeadline = this.#clock.after(this.#deadlineMillis, abort);
    this.#underWay.set(message, () => {
      cancelDeadline();
      abort();
    });
  }

  /** Refuses everything that is under way or still comes. */
  giveUp(): void {
    this.#isGivenUp = true;
    for (const [message, stop] of this.#underWay) {
      stop();
      this.#refuse(message);
    }
  }

  close(): void {
    this.#client.close();
  }

  #refuseLater(message: Message, postNumber: number): void {
    const now = this.#clock.now();
    this.#pace.refused(postNumber, now);
    const cancel = this.#clock.after(this.#pace.pausedUntil - now, () => {
      this.#refuse(message);
    });
    this.#underWay.set(message, cancel);
  }

  #refuse(message: Message): void {
    this.#underWay.delete(message);
    this.counters.nacked += 1;
    message.nack();
  }
}

function requestOf(message: Message, subscription: string): PushRequest {
  const { id, data, attributes, publishTime, orderingKey, deliveryAttempt } = message;
  const micros = BigInt(publishTime.getFullTimeString()) / 1000n;
  return wrappedRequest(
    { data, attributes, messageId: id, publishTime: rfc3339OfMicros(micros), orderingKey: orderingKey ?? '' },
    subscription,
    deliveryAttempt,
  );
}
