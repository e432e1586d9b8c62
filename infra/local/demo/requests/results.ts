import type { Message, PubSub } from '@google-cloud/pubsub';
import { z } from 'zod';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';

/** What a result says of a conditional request. */
export interface Result {
  /** The id of the message that asked. */
  readonly correlationId: string;
  /** The row was written by this attempt. */
  readonly hasWritten: boolean;
  /** It may have been written by an earlier attempt of the same request. */
  readonly mayBeReplayed: boolean;
}

const document = z.object({
  correlationId: z.string(),
  outcome: z.object({
    conditional: z.object({ selectedBranch: z.enum(['then', 'otherwise']), selectedBranchHasMutations: z.boolean() }),
  }),
  mayBeReplayed: z.literal(true).optional(),
});

export function readResult(data: Buffer): Result {
  const { correlationId, outcome, mayBeReplayed } = document.parse(JSON.parse(data.toString('utf8')));
  const { selectedBranchHasMutations: hasWritten } = outcome.conditional;
  return { correlationId, hasWritten, mayBeReplayed: mayBeReplayed ?? false };
}

const LIMIT_MILLIS = 30_000;
const POLL_MILLIS = 50;

/** Collects the results of a pipeline, in the background, until it is stopped. */
export class ResultReader {
  readonly #results: Result[] = [];
  readonly #ids = new Set<string>();
  readonly #subscription;
  #failure: Error | undefined;

  constructor(pubsub: PubSub, subscription: string) {
    this.#subscription = pubsub.subscription(subscription);
    this.#subscription.on('message', (message: Message) => {
      try {
        const result = readResult(message.data);
        this.#results.push(result);
        this.#ids.add(result.correlationId);
      } catch (error) {
        this.#failure ??= error instanceof Error ? error : new Error('a result could not be read', { cause: error });
      }
      message.ack();
    });
    this.#subscription.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  get results(): readonly Result[] {
    return this.#results;
  }

  /** Requests that were answered, however often. */
  get answered(): ReadonlySet<string> {
    return this.#ids;
  }

  /** Waits until so many requests are answered. After 30 s it gives up: what is there then is all there is. */
  async until(requests: number, signal: AbortSignal): Promise<void> {
    const givesUpAt = systemClock.now() + LIMIT_MILLIS;
    while (this.#ids.size < requests && systemClock.now() < givesUpAt) {
      if (this.#failure) throw this.#failure;
      await sleep(systemClock, POLL_MILLIS, signal);
    }
  }

  stop(): Promise<void> {
    return this.#subscription.close();
  }
}
