import type { Message, PubSub } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../shared/base/clock.ts';
import type { Fate } from './fates.ts';
import type { Published } from './publish.ts';

/** What one dead letter says of itself, and what the publisher knows of the record in it. */
export interface DeadLetter {
  /** What was done to the record; absent where the letter names no record that was published. */
  readonly fate?: Fate;
  /** The attribute `dlq-reason`. */
  readonly reason: string;
}

const LIMIT_MILLIS = 30_000;
const POLL_MILLIS = 50;
const SURPLUS_MILLIS = 500;

/** Collects what a dead-letter subscription holds, in the background, until it is stopped. */
export class DeadLetterReader {
  readonly #messages: { readonly attributes: Readonly<Record<string, string>> }[] = [];
  readonly #subscription;
  #failure: Error | undefined;

  constructor(pubsub: PubSub, subscription: string) {
    this.#subscription = pubsub.subscription(subscription);
    this.#subscription.on('message', (message: Message) => {
      this.#messages.push({ attributes: message.attributes });
      message.ack();
    });
    this.#subscription.on('error', (error) => {
      this.#failure = error;
    });
  }

  get count(): number {
    return this.#messages.length;
  }

  /**
   * Waits until `count` letters came, and then a moment for more than there should be. After 30 s it gives up: what is
   * there then is all there is.
   */
  async until(count: number, signal: AbortSignal): Promise<void> {
    const givesUpAt = systemClock.now() + LIMIT_MILLIS;
    while (this.#messages.length < count && systemClock.now() < givesUpAt) {
      if (this.#failure) throw this.#failure;
      await sleep(systemClock, POLL_MILLIS, signal);
    }
    await sleep(systemClock, SURPLUS_MILLIS, signal);
  }

  /** The letters, each matched by the id and the index of its record with what was published. */
  letters(published: Published): DeadLetter[] {
    return this.#messages.map(({ attributes }) => {
      const record = published.get(attributes['dlq-original-message-id'] ?? '')?.records[
        Number(attributes['dlq-record-index'])
      ];
      return { reason: attributes['dlq-reason'] ?? 'without a reason', ...(record && { fate: record.fate }) };
    });
  }

  stop(): Promise<void> {
    return this.#subscription.close();
  }
}
