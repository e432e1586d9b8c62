import type { PubSub } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import type { Fate } from './fates.ts';
import { Collector } from '../base/collector.ts';
import type { Published } from './publish.ts';

/** What one dead letter says of itself, and what the publisher knows of the record in it. */
export interface DeadLetter {
  /** What was done to the record; absent where the letter names no record that was published. */
  readonly fate?: Fate;
  /** The attribute `dlq-reason`. */
  readonly reason: string;
}

const SURPLUS_MILLIS = 500;

/** Collects what a dead-letter subscription holds, in the background, until it is stopped. */
export class DeadLetterReader {
  readonly #letters: Readonly<Record<string, string>>[] = [];
  readonly #collector: Collector;

  constructor(pubsub: PubSub, subscription: string) {
    this.#collector = new Collector(pubsub, subscription, ({ attributes }) => this.#letters.push(attributes));
  }

  get count(): number {
    return this.#letters.length;
  }

  /** Waits until `count` letters came, or 30 s are over, and then a moment for more than there should be. */
  async until(count: number, signal: AbortSignal): Promise<void> {
    await this.#collector.until(() => this.count >= count, signal);
    await sleep(systemClock, SURPLUS_MILLIS, signal);
  }

  /** The letters, each matched by the id and the index of its record with what was published. */
  letters(published: Published): DeadLetter[] {
    return this.#letters.map((attributes) => {
      const record = published.get(attributes['dlq-original-message-id'] ?? '')?.records[
        Number(attributes['dlq-record-index'])
      ];
      return { reason: attributes['dlq-reason'] ?? 'without a reason', ...(record && { fate: record.fate }) };
    });
  }

  stop(): Promise<void> {
    return this.#collector.stop();
  }
}
