import { Queue } from '../../base/queue.ts';
import type { OutgoingMessage } from '../../model/publishing.ts';
import { framedSize, writeMessage } from '../messages/wire-message.ts';
import type { Outbound } from '../outbound.ts';
import type { Slab, SlabPool } from './slab.ts';

/** Requests without an ordering key that are out at once. */
const KEYLESS_REQUESTS = 4;

/** Above it the data of a message stays where it is until it is copied into its request. */
const LARGE_DATA_BYTES = 4096;

/**
 * What waits to be sent of one ordering key, or without one. Messages are written down when they come, one behind the
 * other, so that those of a request are a few copies and nothing else of them is kept.
 */
export class Lane {
  readonly key: string;
  readonly queue = new Queue<Outbound>();
  /** Of the messages in the queue. */
  bytes = 0;
  /** Deliveries under way: of a key one at most, so that nothing overtakes. */
  deliveries = 0;
  /** Whether it stands in the line of all lanes, and in that of lanes with much in them. */
  isInLine = false;
  isInLargeLine = false;
  readonly #maxDeliveries: number;
  readonly #slabs: SlabPool;
  #slab: Slab | undefined;
  #at = 0;
  #isFirst = true;

  constructor(key: string, slabs: SlabPool) {
    this.key = key;
    this.#slabs = slabs;
    this.#maxDeliveries = key === '' ? KEYLESS_REQUESTS : 1;
  }

  /** Whether something of it may leave now. */
  get mayLeave(): boolean {
    return this.queue.length > 0 && this.deliveries < this.#maxDeliveries;
  }

  get isIdle(): boolean {
    return this.queue.length === 0 && this.deliveries === 0;
  }

  /** @param common encoded attributes that the message has besides its own. */
  add(outbound: Outbound, message: OutgoingMessage, common: Buffer): void {
    this.#write(outbound, message, common);
    this.queue.push(outbound);
    this.bytes += outbound.bytes;
  }

  /** Nothing more is written down. */
  close(): void {
    this.#slab?.leave();
    this.#slab = undefined;
  }

  #write(outbound: Outbound, message: OutgoingMessage, common: Buffer): void {
    const { bytes } = outbound;
    const { data } = message;
    const isLarge = data.length > LARGE_DATA_BYTES;
    const size = isLarge ? framedSize(bytes) - data.length : framedSize(bytes);
    let slab = this.#slab;
    if (!slab || this.#at + size > slab.buffer.length) {
      slab?.leave();
      // The first is as large as it must be: a key that comes once costs no more than its message.
      this.#slab = slab = this.#slabs.take(size, this.#isFirst);
      this.#isFirst = false;
      this.#at = 0;
    }
    slab.enter();
    outbound.slab = slab;
    outbound.start = this.#at;
    this.#at = writeMessage(slab.buffer, this.#at, message, common, bytes, !isLarge);
    outbound.end = this.#at;
    if (isLarge) outbound.data = data;
  }
}
