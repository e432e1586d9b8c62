import { batchWrite } from './batch-write.ts';
import { streaming, unary, type CallContext } from './calls.ts';
import { commit } from './commit.ts';
import { listCollectionIds, listDocuments } from './listings.ts';
import { requireDatabase } from './names.ts';
import { runAggregationQuery, runStructuredQuery } from './queries.ts';
import { batchGetDocuments, getDocument } from './reads.ts';
import { createDocument, deleteDocument, updateDocument } from './single-writes.ts';
import type { FirestoreState } from './state.ts';

/** `google.firestore.v1.Firestore` over the server's documents. */
export function firestoreService(state: FirestoreState, context: CallContext) {
  return {
    getDocument: unary(context, 'GetDocument', (request) => getDocument(state, request)),
    batchGetDocuments: streaming(context, 'BatchGetDocuments', (request) => batchGetDocuments(state, request)),
    runQuery: streaming(context, 'RunQuery', (request) => runStructuredQuery(state, request)),
    runAggregationQuery: streaming(context, 'RunAggregationQuery', (request) => runAggregationQuery(state, request)),
    listDocuments: unary(context, 'ListDocuments', (request) => listDocuments(state, request)),
    listCollectionIds: unary(context, 'ListCollectionIds', (request) => listCollectionIds(state, request)),
    beginTransaction: unary(context, 'BeginTransaction', ({ database, options }) => {
      requireDatabase(database);
      return { transaction: state.transactions.begin(database, options, state.store).id };
    }),
    commit: unary(context, 'Commit', (request, signal) => commit(state, request, signal)),
    rollback: unary(context, 'Rollback', ({ transaction }) => {
      state.transactions.end(transaction);
      return {};
    }),
    batchWrite: unary(context, 'BatchWrite', (request, signal) => batchWrite(state, request, signal)),
    createDocument: unary(context, 'CreateDocument', (request, signal) => createDocument(state, request, signal)),
    updateDocument: unary(context, 'UpdateDocument', (request, signal) => updateDocument(state, request, signal)),
    deleteDocument: unary(context, 'DeleteDocument', (request, signal) => deleteDocument(state, request, signal)),
  };
}
