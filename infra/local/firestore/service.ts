import { streaming, unary, type CallContext } from './calls.ts';
import { commit } from './commit.ts';
import { requireDatabase } from './names.ts';
import { batchGetDocuments, getDocument, runStructuredQuery } from './reads.ts';
import type { FirestoreState } from './state.ts';

/** The RPCs of `google.firestore.v1.Firestore` that are served, over the server's documents. */
export function firestoreService(state: FirestoreState, context: CallContext) {
  return {
    getDocument: unary(context, 'GetDocument', (request) => getDocument(state, request)),
    batchGetDocuments: streaming(context, 'BatchGetDocuments', (request) => batchGetDocuments(state, request)),
    runQuery: streaming(context, 'RunQuery', (request) => runStructuredQuery(state, request)),
    beginTransaction: unary(context, 'BeginTransaction', ({ database, options }) => {
      requireDatabase(database);
      return { transaction: state.transactions.begin(database, options, state.store).id };
    }),
    commit: unary(context, 'Commit', (request, signal) => commit(state, request, signal)),
    rollback: unary(context, 'Rollback', ({ transaction }) => {
      state.transactions.end(transaction);
      return {};
    }),
  };
}
