import type { PubSub } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { Collector } from '../base/collector.ts';
import type { StagedMessage } from './plan.ts';
import { type RecordPlace, type Tally, tally } from './tally.ts';

/** For letters that there should not be. */
const SURPLUS_MILLIS = 500;

/** The dead letters of `airports`, collected in the background until it is stopped. */
export class Letters {
  readonly #places: RecordPlace[] = [];
  readonly #collector: Collector;

  constructor(pubsub: PubSub, subscription: string) {
    this.#collector = new Collector(pubsub, subscription, ({ attributes }) => {
      this.#places.push({
        messageId: attributes['dlq-original-message-id'] ?? '',
        recordIndex: Number(attributes['dlq-record-index']),
      });
    });
  }

  /** What they are about, once there is a letter for every effect that must have one, or 30 s are over. */
  async tally(expected: number, published: ReadonlyMap<string, StagedMessage>, signal: AbortSignal): Promise<Tally> {
    const now = (): Tally => tally(this.#places, published, 'airports');
    await this.#collector.until(() => now().refused >= expected, signal);
    await sleep(systemClock, SURPLUS_MILLIS, signal);
    return now();
  }

  stop(): Promise<void> {
    return this.#collector.stop();
  }
}
