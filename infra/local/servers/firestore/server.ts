import { systemClock, type Clock } from '../../../../shared/base/clock.ts';
import type { Logger } from '../../../../shared/base/logging.ts';
import { draftServer, type RpcServer } from '../rpc/server.ts';
import { unserved } from '../rpc/unserved.ts';
import { SIZED_FIRESTORE, UNSERVED, type FirestoreCalls } from './api.ts';
import { BillingCounters, type BilledOperations } from './counters.ts';
import { DocumentStore } from './documents/document-store.ts';
import { LIMITS } from './limits.ts';
import { firestoreService } from './service.ts';
import type { FirestoreState } from './state.ts';
import { CommitClock } from './writes/commit-clock.ts';
import { Transactions } from './writes/transactions.ts';

export interface LocalFirestoreOptions {
  /** Default: a free port. */
  readonly port?: number;
  /** Update times, waiting for locks, expiry of transactions, delays of faults. Default: the system's. */
  readonly clock?: Clock;
  /** Told of defects of the server itself; refusals are answers, not log lines. Default: nobody. */
  readonly log?: Logger;
  /** The largest commit. Default: the service's 10 MiB; 4 MiB stands for Google's emulator. */
  readonly requestLimitBytes?: number;
}

/** A Firestore on this machine. Its state lives in memory and goes with it. */
export interface LocalFirestore extends RpcServer<FirestoreCalls> {
  /** Operations as the service would bill them, since the start or the last reset. */
  billed(): BilledOperations;
  resetBilled(): void;
  /** Transactions that were begun and have not ended. */
  readonly openTransactions: number;
}

/**
 * Starts a Firestore that speaks the real gRPC API on 127.0.0.1 with the status codes, limits and locks of the service,
 * so that Google's client connects unchanged. Not there: Listen, the streaming Write, pipelines, partitions of a query,
 * vector search, reading at a time in the past, time to live, and the refusal of a query whose index is missing.
 *
 * @example
 * const firestore = await startFirestoreServer();
 * process.env.FIRESTORE_EMULATOR_HOST = firestore.address;
 */
export async function startFirestoreServer(options: LocalFirestoreOptions = {}): Promise<LocalFirestore> {
  const clock = options.clock ?? systemClock;
  const state: FirestoreState = {
    clock,
    commitClock: new CommitClock(clock),
    store: new DocumentStore(),
    transactions: new Transactions(clock),
    counters: new BillingCounters(),
    requestLimitBytes: options.requestLimitBytes ?? LIMITS.requestBytes,
  };
  const { context, listen } = draftServer<FirestoreCalls>({ product: 'Firestore', clock, log: options.log });
  const server = await listen(
    [firestoreService(state, context), unserved(SIZED_FIRESTORE.fullName, UNSERVED)],
    options.port,
  );
  return {
    ...server,
    billed: () => state.counters.billed,
    resetBilled: () => {
      state.counters.reset();
    },
    get openTransactions() {
      return state.transactions.openCount;
    },
  };
}
