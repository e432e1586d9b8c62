import type { Due } from './due-heap.ts';
import type { StoredMessage } from './message-store.ts';
import type { Orderable } from './ordering.ts';

/**
 * One message in one subscription.
 *
 *     ready ──take──▶ leased ──acknowledge──▶ settled
 *       ▲               │ nack, lease over
 *       │               ├──▶ waiting (retry policy) ──▶ ready
 *       └───────────────┘
 *                       └──▶ exhausted (attempts used up) ──▶ settled, or waiting when the dead-letter topic is gone
 */
export interface Entry extends Due, Orderable {
  readonly message: StoredMessage;
  state: 'ready' | 'leased' | 'waiting' | 'exhausted' | 'settled';
  /** Deliveries so far; also the generation of the acknowledgement id. */
  attempts: number;
  /** Acknowledgements of deliveries up to this one no longer count: a seek came between. */
  ignoredAttempts: number;
  /** Who holds the lease. */
  holder: Holder | undefined;
}

/** What one consumer has outstanding, for its flow control. Written by the subscription's state alone. */
export interface Holder {
  messages: number;
  bytes: number;
}

/** One delivery of a message: what a consumer gets to work on. */
export interface Delivery {
  readonly ackId: string;
  readonly message: StoredMessage;
  /** From 1. */
  readonly attempt: number;
}

/** Gives an entry to a holder in place of the one that has it, and counts it there. Undefined: nobody counts it. */
export function giveTo(entry: Entry, holder: Holder | undefined): void {
  const { bytes } = entry.message;
  if (entry.holder) {
    entry.holder.messages -= 1;
    entry.holder.bytes -= bytes;
  }
  entry.holder = holder;
  if (!holder) return;
  holder.messages += 1;
  holder.bytes += bytes;
}

export const newEntry = (message: StoredMessage, isOrdered: boolean): Entry => ({
  message,
  orderingKey: isOrdered ? message.wire.orderingKey : '',
  state: 'ready',
  attempts: 0,
  ignoredAttempts: 0,
  holder: undefined,
  dueAt: Infinity,
  heapIndex: -1,
});

/** The acknowledgement id of an entry's current delivery: every delivery has its own. */
export const acknowledgementId = (entry: Entry): string => `${entry.message.sequence}:${entry.attempts}`;

export interface DeliveryReference {
  readonly sequence: number;
  readonly attempt: number;
}

/** Undefined for what is no acknowledgement id of this server. */
export function parseAcknowledgementId(ackId: string): DeliveryReference | undefined {
  const match = /^(\d{1,16}):(\d{1,9})$/.exec(ackId);
  return match ? { sequence: Number(match[1]), attempt: Number(match[2]) } : undefined;
}
