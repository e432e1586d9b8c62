import type {
  BatchGetDocumentsRequest,
  BatchWriteRequest,
  BeginTransactionRequest,
  CommitRequest,
  CreateDocumentRequest,
  DeleteDocumentRequest,
  GetDocumentRequest,
  ListCollectionIdsRequest,
  ListDocumentsRequest,
  RollbackRequest,
  RunAggregationQueryRequest,
  RunQueryRequest,
  UpdateDocumentRequest,
} from '../../proto/google/firestore/v1/firestore.ts';
import { FirestoreService } from '../../proto/google/firestore/v1/firestore.ts';

/** A request that knows how long it was on the wire. */
export type Sized<Request> = Request & { readonly bytes: number };

/** The RPCs that the local Firestore serves, by their names in the protos, with their requests. */
export interface RpcRequests {
  GetDocument: GetDocumentRequest;
  BatchGetDocuments: BatchGetDocumentsRequest;
  ListDocuments: ListDocumentsRequest;
  CreateDocument: CreateDocumentRequest;
  UpdateDocument: UpdateDocumentRequest;
  DeleteDocument: DeleteDocumentRequest;
  Commit: Sized<CommitRequest>;
  BatchWrite: Sized<BatchWriteRequest>;
  BeginTransaction: BeginTransactionRequest;
  Rollback: RollbackRequest;
  RunQuery: RunQueryRequest;
  RunAggregationQuery: RunAggregationQueryRequest;
  ListCollectionIds: ListCollectionIdsRequest;
}

export type RpcMethod = keyof RpcRequests;

export type RequestOf<Method extends RpcMethod> = RpcRequests[Method];

/** The generated service, with the two requests sized that carry documents in number. */
export const SizedFirestoreService = {
  ...FirestoreService,
  commit: { ...FirestoreService.commit, requestDeserialize: sized(FirestoreService.commit.requestDeserialize) },
  batchWrite: {
    ...FirestoreService.batchWrite,
    requestDeserialize: sized(FirestoreService.batchWrite.requestDeserialize),
  },
};

function sized<Request extends object>(decode: (bytes: Buffer) => Request): (bytes: Buffer) => Sized<Request> {
  return (bytes) => ({ ...decode(bytes), bytes: bytes.length });
}
