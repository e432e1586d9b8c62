import type { Clock } from '../../../../shared/base/clock.ts';
import type { BillingCounters } from './counters.ts';
import type { DocumentStore } from './documents/document-store.ts';
import type { CommitClock } from './writes/commit-clock.ts';
import type { Transactions } from './writes/transactions.ts';

/** All that a server holds. */
export interface FirestoreState {
  readonly clock: Clock;
  readonly commitClock: CommitClock;
  readonly store: DocumentStore;
  readonly transactions: Transactions;
  readonly counters: BillingCounters;
  /** A larger commit is refused. */
  readonly requestLimitBytes: number;
}
