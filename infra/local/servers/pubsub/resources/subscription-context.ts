import type { Random } from '../../../../../shared/base/random.ts';
import type { Faults } from '../../rpc/faults.ts';
import type { Entry } from '../delivery/entry.ts';
import type { MessageStore } from '../delivery/message-store.ts';
import type { PubSubCalls } from '../faults.ts';
import type { Timing } from '../timing.ts';

/** What all subscriptions of a server share. */
export interface SubscriptionContext {
  readonly timing: Timing;
  readonly store: MessageStore;
  readonly faults: Faults<PubSubCalls>;
  readonly random: Random;
  /** Pushes that one subscription may have outstanding. */
  readonly pushConcurrency: number;
  /** Publishes the dead letter of an entry. @returns false when the topic is not there. */
  bury(entry: Entry, subscription: string, topic: string): boolean;
}

/** What happened on a subscription since it was created. Counters count events; `backlog` and `outstanding…` are states. */
export interface SubscriptionCounters {
  /** Messages published to its topic that its filter let through. */
  readonly matched: number;
  /** Messages that its filter kept out. */
  readonly filtered: number;
  /** Deliveries, each attempt counted. */
  readonly delivered: number;
  /** Messages acknowledged. */
  readonly acked: number;
  /** Deliveries refused by their consumer: nacks, and pushes that ended without an acknowledging status. */
  readonly nacked: number;
  /** Leases that ended without an answer. */
  readonly expired: number;
  /** Messages published to the dead-letter topic. */
  readonly deadLettered: number;
  /** Messages not acknowledged yet. */
  readonly backlog: number;
  /** Acknowledged messages kept for a seek. */
  readonly retained: number;
  /** Pushes under way. */
  readonly outstandingPushes: number;
  /** How many pushes may be under way now. */
  readonly pushWindow: number;
}
