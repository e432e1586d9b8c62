import type { PubSub } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { Collector } from '../base/collector.ts';

/** For letters that there should not be. */
const SURPLUS_MILLIS = 500;

/** The letters of a run, collected in the background until it is stopped: what they are about, each row once. */
export class Letters {
  /** `reason row-key` */
  readonly #about = new Set<string>();
  readonly #collector: Collector;

  constructor(pubsub: PubSub, subscription: string) {
    this.#collector = new Collector(pubsub, subscription, ({ attributes }) => {
      this.#about.add(`${attributes['dlq-reason']} ${attributes['row-key']}`);
    });
  }

  /** Once there are as many as are expected, or 30 s are over. */
  async read(expected: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
    await this.#collector.until(() => this.#about.size >= expected, signal);
    await sleep(systemClock, SURPLUS_MILLIS, signal);
    return this.#about;
  }

  stop(): Promise<void> {
    return this.#collector.stop();
  }
}

/** What a letter says of a row that the service will not read, and of one that the module throws at. */
export const tooLarge = (key: string): string => `oversized-row ${key}`;
export const refusedByModule = (key: string): string => `form ${key}`;
