import { serve, type CallContext } from '../rpc/calls.ts';
import type { Service } from '../rpc/grpc.ts';
import { SIZED_FIRESTORE, type FirestoreCalls } from './api.ts';
import { requireDatabase } from './documents/names.ts';
import { listCollectionIds, listDocuments } from './reads/listings.ts';
import { runAggregationQuery, runStructuredQuery } from './reads/queries.ts';
import { batchGetDocuments, getDocument } from './reads/reads.ts';
import type { FirestoreState } from './state.ts';
import { batchWrite } from './writes/batch-write.ts';
import { commit } from './writes/commit.ts';
import { createDocument, deleteDocument, updateDocument } from './writes/single-writes.ts';

/** `google.firestore.v1.Firestore` over the server's documents. */
export function firestoreService(state: FirestoreState, context: CallContext<FirestoreCalls>): Service {
  return serve(SIZED_FIRESTORE, context, {
    getDocument: (request) => getDocument(state, request),
    batchGetDocuments: streamed((request) => batchGetDocuments(state, request)),
    runQuery: streamed((request) => runStructuredQuery(state, request)),
    runAggregationQuery: streamed((request) => runAggregationQuery(state, request)),
    listDocuments: (request) => listDocuments(state, request),
    listCollectionIds: (request) => listCollectionIds(state, request),
    beginTransaction: ({ database, options }) => {
      requireDatabase(database);
      return { transaction: state.transactions.begin(database, options, state.store).id };
    },
    commit: (request, { signal }) => commit(state, request, signal),
    rollback: ({ transaction }) => {
      state.transactions.end(transaction);
      return {};
    },
    batchWrite: (request, { signal }) => batchWrite(state, request, signal),
    createDocument: (request, { signal }) => createDocument(state, request, signal),
    updateDocument: (request, { signal }) => updateDocument(state, request, signal),
    deleteDocument: (request, { signal }) => deleteDocument(state, request, signal),
  });
}

/** Sends what was read at once, so that a reader sees one moment's state. */
const streamed =
  <Request, Response>(read: (request: Request) => readonly Response[] | Promise<readonly Response[]>) =>
  async (request: Request, { send }: { readonly send: (response: Response) => Promise<void> }): Promise<void> => {
    for (const response of await read(request)) await send(response);
  };
