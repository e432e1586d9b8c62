import type { Message, PubSub } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { toError } from '../../../../shared/base/errors.ts';

const LIMIT_MILLIS = 30_000;
const POLL_MILLIS = 50;

/** Takes what a subscription holds, in the background, until it is stopped. */
export class Collector {
  readonly #subscription;
  #failure: Error | undefined;

  /** @param take keeps what a message says; what it throws is a failure of the run. */
  constructor(pubsub: PubSub, subscription: string, take: (message: Message) => void) {
    this.#subscription = pubsub.subscription(subscription);
    this.#subscription.on('message', (message: Message) => {
      try {
        take(message);
      } catch (error) {
        this.#failure ??= toError(error);
      }
      message.ack();
    });
    this.#subscription.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  /** Waits until all that is expected came. After 30 s it gives up: what is there then is all there is. */
  async until(isComplete: () => boolean, signal: AbortSignal): Promise<void> {
    const givesUpAt = systemClock.now() + LIMIT_MILLIS;
    while (!isComplete() && systemClock.now() < givesUpAt) {
      if (this.#failure) throw this.#failure;
      await sleep(systemClock, POLL_MILLIS, signal);
    }
  }

  stop(): Promise<void> {
    return this.#subscription.close();
  }
}
