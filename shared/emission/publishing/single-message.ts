import { onAbort } from '../../base/abort.ts';
import { abortReason } from '../../base/clock.ts';
import type { Publisher } from '../../model/publishing.ts';
import type { Status } from '../../model/status.ts';
import { EmissionError } from '../failure.ts';
import { Outbound, type Owner } from '../outbound.ts';
import type { TopicPublisher } from './topic-publisher.ts';
import { brokenRule, MAX_MESSAGE_BYTES } from '../messages/limits.ts';
import { attributeFields, messageSize } from '../messages/wire-message.ts';

const NO_ATTRIBUTES = attributeFields({});

/**
 * The topic for messages that are waited for one by one: letters, and the end of a run. They are not counted against the
 * budget, because what fills it may wait for them.
 */
export function singlePublisher(topic: string, publisher: Pick<TopicPublisher, 'add' | 'dropHeldBack'>): Publisher {
  return {
    publish(message, signal) {
      if (signal?.aborted) return Promise.reject(abortReason(signal));
      const bytes = messageSize(message, NO_ATTRIBUTES);
      const problem = brokenRule(message, {}) ?? (bytes > MAX_MESSAGE_BYTES ? 'it is too large' : undefined);
      if (problem !== undefined) {
        return Promise.reject(
          new EmissionError('refused', `a message for ${topic} breaks a rule of Pub/Sub: ${problem}`),
        );
      }
      return new Promise((resolve, reject) => {
        const owner = new SingleOwner(topic, resolve, reject);
        const outbound = new Outbound(owner, 0, 0);
        outbound.bytes = bytes;
        publisher.add(outbound, message, NO_ATTRIBUTES);
        if (!signal) return;
        owner.forget = onAbort(signal, () => {
          reject(abortReason(signal));
          owner.lastSequence = -1;
          publisher.dropHeldBack();
        });
      });
    },
    close: () => Promise.resolve(),
  };
}

class SingleOwner implements Owner {
  lastSequence = 0;
  forget: () => void = () => undefined;
  readonly #topic: string;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;

  constructor(topic: string, resolve: () => void, reject: (error: Error) => void) {
    this.#topic = topic;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  confirmed(): void {
    this.forget();
    this.#resolve();
  }

  failed(
    _message: Outbound,
    failure = new EmissionError('ended', `nobody waits for a message to ${this.#topic}`),
  ): void {
    this.forget();
    this.#reject(failure);
  }

  refused(message: Outbound, problem: string, status: Status | undefined): Promise<void> {
    this.failed(
      message,
      new EmissionError('refused', `Publish to ${this.#topic} refuses a message: ${problem}`, { status }),
    );
    return Promise.resolve();
  }
}
