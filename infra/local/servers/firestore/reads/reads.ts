import type { DocumentMask, TransactionOptions } from '../../../../../shared/proto/google/firestore/v1/common.ts';
import type { Document } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type { BatchGetDocumentsResponse } from '../../../../../shared/proto/google/firestore/v1/firestore.ts';
import type { Timestamp } from '../../../../../shared/proto/google/protobuf/timestamp.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { timestampOfMicros } from '../../rpc/proto-time.ts';
import type { RequestOf } from '../api.ts';
import type { DocumentView } from '../documents/document-store.ts';
import { documentMessage } from '../documents/document.ts';
import { parseFieldPath, type FieldPath } from '../documents/field-path.ts';
import { databaseOf, parseDocumentName, requireDatabase, requireWithin } from '../documents/names.ts';
import type { CompiledQuery } from '../query/query.ts';
import type { FirestoreState } from '../state.ts';
import { noHistory, type Transaction } from '../writes/transactions.ts';

/** As of when a request reads. */
export type ConsistencySelector =
  | { readonly $case: 'transaction'; readonly value: Buffer }
  | { readonly $case: 'newTransaction'; readonly value: TransactionOptions }
  | { readonly $case: 'readTime'; readonly value: Timestamp }
  | undefined;

/** What a request reads from, and what locks it takes. */
export interface Reading {
  readonly view: DocumentView;
  readonly readTime: Timestamp;
  /** To be answered: a transaction that begins with this read. */
  readonly begun: Buffer | undefined;
  lockDocument(name: string): void;
  lockQuery(query: CompiledQuery): void;
}

/** @throws INVALID_ARGUMENT for a transaction that is not open; UNIMPLEMENTED for a time */
export function startReading(state: FirestoreState, database: string, selector: ConsistencySelector): Reading {
  if (selector?.$case === 'readTime') throw noHistory();
  const transaction = transactionOf(state, database, selector);
  const isLocking = transaction !== undefined && transaction.snapshot === undefined;
  return {
    view: transaction?.snapshot ?? state.store,
    readTime: timestampOfMicros(state.commitClock.read()),
    begun: selector?.$case === 'newTransaction' ? transaction?.id : undefined,
    lockDocument(name) {
      if (isLocking) transaction.documents.add(name);
    },
    lockQuery(query) {
      if (isLocking) transaction.queries.push(query);
    },
  };
}

function transactionOf(
  { store, transactions }: FirestoreState,
  database: string,
  selector: Exclude<ConsistencySelector, { readonly $case: 'readTime' }>,
): Transaction | undefined {
  switch (selector?.$case) {
    case 'transaction':
      return transactions.use(database, selector.value);
    case 'newTransaction':
      return transactions.begin(database, selector.value, store);
    case undefined:
      return undefined;
  }
}

/** Of a message that names no transaction. */
export const NO_TRANSACTION = Buffer.alloc(0);

const maskOf = (mask: DocumentMask | undefined): readonly FieldPath[] | undefined =>
  mask?.fieldPaths.map(parseFieldPath);

export function getDocument(
  state: FirestoreState,
  { name, mask, consistencySelector }: RequestOf<'GetDocument'>,
): Document {
  parseDocumentName(name);
  const paths = maskOf(mask);
  const reading = startReading(state, databaseOf(name), consistencySelector);
  reading.lockDocument(name);
  state.counters.documentsRead(1);
  const document = reading.view.get(name);
  if (!document) throw new GrpcError('NOT_FOUND', `Document not found: ${name}`);
  return documentMessage(document, paths);
}

/** Each document once, found or missing; a transaction that begins here is named first. */
export function batchGetDocuments(
  state: FirestoreState,
  { database, documents, mask, consistencySelector }: RequestOf<'BatchGetDocuments'>,
): BatchGetDocumentsResponse[] {
  requireDatabase(database);
  for (const name of documents) {
    parseDocumentName(name);
    requireWithin(database, name);
  }
  const paths = maskOf(mask);
  const reading = startReading(state, database, consistencySelector);
  const { view, readTime, begun } = reading;
  const responses = [...new Set(documents)].map((name): BatchGetDocumentsResponse => {
    reading.lockDocument(name);
    const document = view.get(name);
    const result = document
      ? ({ $case: 'found', value: documentMessage(document, paths) } as const)
      : ({ $case: 'missing', value: name } as const);
    return { result, transaction: NO_TRANSACTION, readTime };
  });
  state.counters.documentsRead(responses.length);
  return begun ? [{ result: undefined, transaction: begun, readTime }, ...responses] : responses;
}
