import { systemClock, type Clock } from '../../../../shared/base/clock.ts';
import { describeError, type Logger } from '../../../../shared/base/logging.ts';
import { FirestoreDefinition } from '../../../../shared/proto/google/firestore/v1/firestore.ts';
import { serveGrpc } from '../rpc/grpc.ts';
import { unserved } from '../rpc/unserved.ts';
import type { CallContext } from './calls.ts';
import { CommitClock } from './commit-clock.ts';
import { BillingCounters, type BilledOperations } from './counters.ts';
import { DocumentStore } from './document-store.ts';
import { Faults } from './faults.ts';
import { LIMITS } from './limits.ts';
import { SizedFirestoreService, UNSERVED, type RpcMethod } from './rpc-methods.ts';
import { firestoreService } from './service.ts';
import type { FirestoreState } from './state.ts';
import { Transactions } from './transactions.ts';

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
export interface LocalFirestore {
  /** `127.0.0.1:port`, for `FIRESTORE_EMULATOR_HOST`. */
  readonly address: string;
  /** What goes wrong, on request. */
  readonly faults: Faults;
  /** Operations as the service would bill them, since the start or the last reset. */
  billed(): BilledOperations;
  resetBilled(): void;
  /** Calls taken since the start, by RPC, whatever became of them. */
  requestCounts(): Partial<Record<RpcMethod, number>>;
  /** Transactions that were begun and have not ended. */
  readonly openTransactions: number;
  /** Ends every call and frees the port. */
  close(): Promise<void>;
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
  const faults = new Faults();
  const closing = new AbortController();
  const counts = new Map<RpcMethod, number>();
  const context: CallContext = {
    clock,
    faults,
    closing: closing.signal,
    count: (method) => counts.set(method, (counts.get(method) ?? 0) + 1),
    defect: (method, error) =>
      options.log?.log('ERROR', `local Firestore: ${method} failed`, { error: describeError(error) }),
  };
  const endpoint = await serveGrpc(
    [
      { definition: SizedFirestoreService, implementation: { ...firestoreService(state, context) } },
      unserved(FirestoreDefinition.fullName, UNSERVED),
    ],
    options.port,
  );
  return {
    address: endpoint.address,
    faults,
    billed: () => state.counters.billed,
    resetBilled: () => {
      state.counters.reset();
    },
    requestCounts: () => Object.fromEntries(counts),
    get openTransactions() {
      return state.transactions.openCount;
    },
    close: async () => {
      closing.abort();
      await endpoint.close();
    },
  };
}
