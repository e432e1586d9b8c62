import { CommitClock } from '../../../../infra/local/firestore/commit-clock.ts';
import { BillingCounters } from '../../../../infra/local/firestore/counters.ts';
import { DocumentStore } from '../../../../infra/local/firestore/document-store.ts';
import { LIMITS } from '../../../../infra/local/firestore/limits.ts';
import type { FirestoreState } from '../../../../infra/local/firestore/state.ts';
import { Transactions } from '../../../../infra/local/firestore/transactions.ts';
import type { Clock } from '../../../../shared/base/clock.ts';

/** What a server holds, without the server. */
export function emptyState(clock: Clock): FirestoreState {
  return {
    clock,
    commitClock: new CommitClock(clock),
    store: new DocumentStore(),
    transactions: new Transactions(clock),
    counters: new BillingCounters(),
    requestLimitBytes: LIMITS.requestBytes,
  };
}
