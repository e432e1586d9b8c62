import type { PubsubMessage } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { timestampOfMicros } from '../../rpc/proto-time.ts';
import { messageBytes } from './limits.ts';

/** One published message, shared by every subscription that holds it. */
export interface StoredMessage {
  /** The message id as a number: unique in the server and increasing in the order of publishing. */
  readonly sequence: number;
  /** Microseconds since the epoch, strictly increasing in the order of publishing. */
  readonly publishMicros: bigint;
  /** What the service's limits count: data, attributes and ordering key. */
  readonly bytes: number;
  /** The message as it goes over the wire, with id and publish time filled in. */
  readonly wire: PubsubMessage;
  /** How many subscriptions hold it. Written by the store alone. */
  holders: number;
}

/** What one held message costs beside its payload: objects, map entries, strings. An estimate, so that empty messages are bounded too. */
const OVERHEAD_BYTES = 400;

const cost = (message: StoredMessage): number => message.bytes + OVERHEAD_BYTES;

/** Stamps messages and counts what they hold in memory, however many subscriptions share one. */
export class MessageStore {
  readonly #maxRetainedBytes: number;
  #retainedBytes = 0;
  #sequence: number;
  #lastMicros = 0n;

  /** @param now milliseconds since the epoch: ids start there, so that they differ from those of an earlier server. */
  constructor(maxRetainedBytes: number, now: number) {
    this.#maxRetainedBytes = maxRetainedBytes;
    this.#sequence = Math.trunc(now) * 1000;
  }

  get retainedBytes(): number {
    return this.#retainedBytes;
  }

  /** Bytes that must be given up before messages of these sizes fit; 0 or less when they fit. */
  excess(payloadBytes: number, messages: number): number {
    return this.#retainedBytes + payloadBytes + messages * OVERHEAD_BYTES - this.#maxRetainedBytes;
  }

  /** Gives a message its id and publish time. It is counted when the first subscription holds it. */
  stamp(published: PubsubMessage, now: number): StoredMessage {
    this.#sequence += 1;
    const micros = BigInt(Math.trunc(now)) * 1000n;
    this.#lastMicros = micros > this.#lastMicros ? micros : this.#lastMicros + 1n;
    const wire = {
      ...published,
      messageId: String(this.#sequence),
      publishTime: timestampOfMicros(this.#lastMicros),
    };
    return {
      sequence: this.#sequence,
      publishMicros: this.#lastMicros,
      bytes: messageBytes(published),
      wire,
      holders: 0,
    };
  }

  hold(message: StoredMessage): void {
    if (message.holders === 0) this.#retainedBytes += cost(message);
    message.holders += 1;
  }

  release(message: StoredMessage): void {
    message.holders -= 1;
    if (message.holders === 0) this.#retainedBytes -= cost(message);
  }
}
