import { type Clock, abortReason } from '../../../../../shared/base/clock.ts';
import type { TransactionOptions } from '../../../../../shared/proto/google/firestore/v1/common.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { Change, DocumentView } from '../documents/document-store.ts';
import type { StoredDocument } from '../documents/document.ts';
import { Snapshot } from '../documents/snapshot.ts';
import { concerns, type CompiledQuery } from '../query/query.ts';

/** A transaction that was begun and has not ended. */
export interface Transaction {
  readonly id: Buffer;
  readonly database: string;
  /** There for a read-only transaction, which locks nothing. */
  readonly snapshot: Snapshot | undefined;
  readonly startedAt: number;
  usedAt: number;
  /** Names of documents read, there or not: shared locks. */
  readonly documents: Set<string>;
  /** Queries run: no document may become or cease to be one of theirs. */
  readonly queries: CompiledQuery[];
}

/** The service ends a transaction after these times (firebase.google.com/docs/firestore/quotas#writes_and_transactions). */
export const TRANSACTION_IDLE_MILLIS = 60_000;
export const TRANSACTION_TOTAL_MILLIS = 270_000;

/** The transactions that are open, with the shared locks that they hold. Reads never wait; writes wait for reads. */
export class Transactions {
  readonly #clock: Clock;
  readonly #open = new Map<string, Transaction>();
  readonly #waiting = new Set<() => void>();
  #begun = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** @throws UNIMPLEMENTED for one in the past: no history is kept. */
  begin(database: string, options: TransactionOptions | undefined, now: DocumentView): Transaction {
    this.#endExpired();
    const mode = options?.mode;
    if (mode?.$case === 'readOnly' && mode.value.consistencySelector) throw noHistory();
    this.#begun += 1;
    const at = this.#clock.now();
    const transaction: Transaction = {
      id: Buffer.from(`transaction-${this.#begun}`),
      database,
      snapshot: mode?.$case === 'readOnly' ? new Snapshot(now) : undefined,
      startedAt: at,
      usedAt: at,
      documents: new Set(),
      queries: [],
    };
    this.#open.set(transaction.id.toString(), transaction);
    return transaction;
  }

  /** The open transaction of this id, which is used now. @throws INVALID_ARGUMENT for one that ended or never was */
  use(database: string, id: Buffer): Transaction {
    this.#endExpired();
    const transaction = this.#open.get(id.toString());
    if (transaction?.database !== database) {
      const message = this.#hasBegun(id) ? 'Transaction is invalid or closed.' : 'Invalid transaction.';
      throw new GrpcError('INVALID_ARGUMENT', message);
    }
    transaction.usedAt = this.#clock.now();
    return transaction;
  }

  /** Ends a transaction and lets those go on that wait for its locks. One that has ended already may end again. */
  end(id: Buffer): void {
    if (!this.#hasBegun(id)) throw new GrpcError('INVALID_ARGUMENT', 'Invalid transaction.');
    if (!this.#open.delete(id.toString())) return;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Whether a transaction other than `own` has read one of these documents. */
  hasRead(names: Iterable<string>, own: Transaction | undefined): boolean {
    const written = [...names];
    return this.#others(own).some(({ documents }) => written.some((name) => documents.has(name)));
  }

  /** Whether a query that a transaction other than `own` has run would find one of these documents, before or after. */
  hasQueried(changes: readonly Change[], own: Transaction | undefined): boolean {
    const isFound = (query: CompiledQuery, document: StoredDocument | undefined): boolean =>
      document !== undefined && concerns(query, document);
    return this.#others(own).some(({ queries }) =>
      queries.some((query) => changes.some(({ before, after }) => isFound(query, before) || isFound(query, after))),
    );
  }

  /** Tells the snapshots what a commit replaces. */
  keep(changes: readonly Change[]): void {
    for (const { snapshot } of this.#open.values()) snapshot?.keep(changes);
  }

  /** Resolves when a transaction ended, true, or the time is over, false. Rejects when the signal aborts. */
  untilOneEnds(withinMillis: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const stop = (): void => {
        cancel();
        this.#waiting.delete(onEnd);
        signal.removeEventListener('abort', onAbort);
      };
      const onEnd = (): void => {
        stop();
        resolve(true);
      };
      const onAbort = (): void => {
        stop();
        reject(abortReason(signal));
      };
      const cancel = this.#clock.after(withinMillis, () => {
        stop();
        resolve(false);
      });
      this.#waiting.add(onEnd);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #others(own: Transaction | undefined): Transaction[] {
    this.#endExpired();
    return [...this.#open.values()].filter((transaction) => transaction !== own);
  }

  #hasBegun(id: Buffer): boolean {
    const number = /^transaction-(\d{1,15})$/.exec(id.toString())?.[1];
    return number !== undefined && Number(number) >= 1 && Number(number) <= this.#begun;
  }

  #endExpired(): void {
    const now = this.#clock.now();
    for (const { id, startedAt, usedAt } of this.#open.values()) {
      if (now - usedAt >= TRANSACTION_IDLE_MILLIS || now - startedAt >= TRANSACTION_TOTAL_MILLIS) this.end(id);
    }
  }
}

export const noHistory = (): GrpcError =>
  new GrpcError('UNIMPLEMENTED', 'this local server keeps no history: it cannot read at a time; read without one');
