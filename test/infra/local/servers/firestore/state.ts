import { BillingCounters } from '../../../../../infra/local/servers/firestore/counters.ts';
import { DocumentStore } from '../../../../../infra/local/servers/firestore/documents/document-store.ts';
import { LIMITS } from '../../../../../infra/local/servers/firestore/limits.ts';
import type { FirestoreState } from '../../../../../infra/local/servers/firestore/state.ts';
import { CommitClock } from '../../../../../infra/local/servers/firestore/writes/commit-clock.ts';
import { Transactions } from '../../../../../infra/local/servers/firestore/writes/transactions.ts';
import type { Clock } from '../../../../../shared/base/clock.ts';

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
