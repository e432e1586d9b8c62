import type { Clock } from '../../../shared/base/clock.ts';
import type { Random } from '../../../shared/base/random.ts';
import { readMessage } from '../../../shared/emission/messages/wire-message.ts';
import type { PublishAttempt, PublishReply, SendPublish, WireMessage } from '../../../shared/emission/ports.ts';

export interface Published {
  readonly at: number;
  readonly data: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey: string;
}

/** What becomes of an attempt. */
export type PublishFault =
  | { readonly kind: 'refused-before' }
  /** Its messages are published, and nobody learns of it. */
  | { readonly kind: 'answer-lost' }
  /** Nobody hears of it, and its messages are published later. */
  | { readonly kind: 'late'; readonly millis: number };

export interface SimulatedTopicOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly fault: () => PublishFault | undefined;
  /** A message that the topic will never take. */
  readonly isPoison: (message: Published) => boolean;
  readonly onPublished: (message: Published) => void;
}

/** The topics of a scan, and their publishes: lost, refused, applied later, refused for one message's sake. */
export class SimulatedTopics {
  readonly published = new Map<string, Published[]>();
  #latestAt = 0;
  readonly #options: SimulatedTopicOptions;

  constructor(options: SimulatedTopicOptions) {
    this.#options = options;
  }

  /** Until then something that was sent may still be published. */
  get latestAt(): number {
    return this.#latestAt;
  }

  of(topic: string): readonly Published[] {
    return this.published.get(topic) ?? [];
  }

  readonly send: SendPublish = (attempt: PublishAttempt): Promise<PublishReply> => {
    const { clock, fault, isPoison } = this.#options;
    const messages = attempt.messages.map((message) => decode(message, clock.now()));
    const drawn = fault();
    if (drawn?.kind === 'refused-before') return Promise.resolve(failed('UNAVAILABLE'));
    if (messages.some(isPoison)) return Promise.resolve(failed('INVALID_ARGUMENT'));
    if (drawn?.kind === 'late') {
      this.#latestAt = Math.max(this.#latestAt, clock.now() + drawn.millis);
      clock.after(drawn.millis, () => {
        this.#publish(attempt.topic, messages);
      });
      return this.#timeout(attempt);
    }
    this.#publish(attempt.topic, messages);
    return drawn?.kind === 'answer-lost' ? this.#timeout(attempt) : Promise.resolve({ kind: 'confirmed' });
  };

  /** Publishes one message without data, as the end of a run is told. */
  tell(topic: string, attributes: Readonly<Record<string, string>>): Promise<PublishReply> {
    const { clock, fault } = this.#options;
    const message: Published = { at: clock.now(), data: '', attributes, orderingKey: '' };
    const drawn = fault();
    if (drawn?.kind === 'refused-before') return Promise.resolve(failed('UNAVAILABLE'));
    this.#publish(topic, [message]);
    return Promise.resolve(drawn ? failed('DEADLINE_EXCEEDED') : { kind: 'confirmed' });
  }

  #publish(topic: string, messages: readonly Published[]): void {
    const all = this.published.get(topic) ?? [];
    this.published.set(topic, all);
    for (const message of messages) {
      const published = { ...message, at: this.#options.clock.now() };
      all.push(published);
      this.#options.onPublished(published);
    }
  }

  #timeout({ timeoutMillis }: PublishAttempt): Promise<PublishReply> {
    return new Promise((resolve) => {
      this.#options.clock.after(timeoutMillis, () => {
        resolve(failed('DEADLINE_EXCEEDED'));
      });
    });
  }
}

function decode(message: WireMessage, at: number): Published {
  const { data, attributes, orderingKey = '' } = readMessage(message);
  return { at, data: data.toString(), attributes, orderingKey };
}

const failed = (code: 'UNAVAILABLE' | 'INVALID_ARGUMENT' | 'DEADLINE_EXCEEDED'): PublishReply => ({
  kind: 'failed',
  status: { code, message: 'simulated' },
  isUnsent: false,
});
