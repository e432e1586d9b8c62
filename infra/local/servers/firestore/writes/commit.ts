import type { CommitResponse } from '../../../../../shared/proto/google/firestore/v1/firestore.ts';
import type { Write, WriteResult } from '../../../../../shared/proto/google/firestore/v1/write.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { timestampOfMicros } from '../../rpc/proto-time.ts';
import type { RequestOf } from '../api.ts';
import type { Change, DocumentView } from '../documents/document-store.ts';
import type { StoredDocument } from '../documents/document.ts';
import { parseDocumentName, requireWithin } from '../documents/names.ts';
import type { FirestoreState } from '../state.ts';
import type { Transaction } from './transactions.ts';
import { writtenDocument, applyWrite } from './write.ts';

/** How long a write waits for the locks of transactions. Measured on Google's emulator, Cloud SDK 528. */
export const LOCK_WAIT_MILLIS = 2000;

/**
 * One commit: all of its writes or none. It waits while another transaction has read what it writes, and is then
 * planned on the documents as they are and stored in the same turn of the event loop: nothing comes in between. Its
 * own transaction ends with it, whatever becomes of it.
 * @throws ABORTED after {@link LOCK_WAIT_MILLIS} of waiting; what its writes are refused for
 */
export async function commit(
  state: FirestoreState,
  { database, writes, transaction: id, bytes }: RequestOf<'Commit'>,
  signal: AbortSignal,
): Promise<CommitResponse> {
  const transaction = id.length > 0 ? state.transactions.use(database, id) : undefined;
  if (transaction?.snapshot && writes.length > 0) {
    throw new GrpcError('INVALID_ARGUMENT', 'Cannot modify entities in a read-only transaction.');
  }
  try {
    requireWrites(state, database, writes, bytes);
    const { results, commitMicros } = await writeOnceUnlocked(state, writes, transaction, signal);
    return { writeResults: [...results], commitTime: timestampOfMicros(commitMicros) };
  } finally {
    if (transaction) state.transactions.end(transaction.id);
  }
}

/** What was stored, and when. */
export interface Committed {
  readonly results: readonly WriteResult[];
  readonly commitMicros: bigint;
}

export async function writeOnceUnlocked(
  state: FirestoreState,
  writes: readonly Write[],
  own: Transaction | undefined,
  signal: AbortSignal,
): Promise<Committed> {
  const names = new Set(writes.map(writtenDocument));
  const deadline = state.clock.now() + LOCK_WAIT_MILLIS;
  for (;;) {
    const plan = planUnlocked(state, names, writes, own);
    if (plan) return store(state, writes, plan);
    const left = deadline - state.clock.now();
    const isReleased = left > 0 && (await state.transactions.untilOneEnds(left, signal));
    if (!isReleased) throw new GrpcError('ABORTED', 'Transaction lock timeout.');
  }
}

interface TimedPlan extends CommitPlan {
  readonly commitMicros: bigint;
}

/** The plan of the writes, or undefined while a lock is in the way. Locks come before preconditions. */
function planUnlocked(
  { store, transactions, commitClock }: FirestoreState,
  names: ReadonlySet<string>,
  writes: readonly Write[],
  own: Transaction | undefined,
): TimedPlan | undefined {
  if (transactions.hasRead(names, own)) return undefined;
  const commitMicros = commitClock.next();
  const plan = planCommit(store, writes, commitMicros);
  return transactions.hasQueried(plan.changes, own) ? undefined : { ...plan, commitMicros };
}

function store(
  { store: documents, transactions, commitClock, counters }: FirestoreState,
  writes: readonly Write[],
  { changes, results, commitMicros }: TimedPlan,
): Committed {
  transactions.keep(changes);
  documents.apply(changes);
  commitClock.passed(commitMicros);
  for (const { operation } of writes) {
    if (operation?.$case === 'delete') counters.documentDeleted();
    else counters.documentWritten();
  }
  return { results, commitMicros };
}

/** @throws INVALID_ARGUMENT for a request that is too large or writes what is no document of its database. */
export function requireWrites(
  { requestLimitBytes }: FirestoreState,
  database: string,
  writes: readonly Write[],
  bytes: number,
): void {
  if (bytes > requestLimitBytes) {
    throw new GrpcError('INVALID_ARGUMENT', `Request payload size exceeds the limit: ${requestLimitBytes} bytes.`);
  }
  for (const name of writes.map(writtenDocument)) {
    parseDocumentName(name);
    requireWithin(database, name);
  }
}

/** What a commit would do. */
export interface CommitPlan {
  /** One for each document that is written. */
  readonly changes: readonly Change[];
  /** One for each write, in order. */
  readonly results: readonly WriteResult[];
}

/**
 * Plans the writes of one commit in their order, each on what those before it leave. Pure: nothing is stored, so that a
 * write that is refused leaves nothing of the others. @throws the first refusal
 */
export function planCommit(store: DocumentView, writes: readonly Write[], nowMicros: bigint): CommitPlan {
  const after = new Map<string, StoredDocument | undefined>();
  const results = writes.map((write) => {
    const name = writtenDocument(write);
    const current = after.has(name) ? after.get(name) : store.get(name);
    const { document, result } = applyWrite(write, current, nowMicros);
    after.set(name, document);
    return result;
  });
  const changes = [...after].map(([name, document]) => ({ name, before: store.get(name), after: document }));
  return { changes, results };
}
