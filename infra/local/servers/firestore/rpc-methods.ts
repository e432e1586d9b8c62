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
} from '../../../../shared/proto/google/firestore/v1/firestore.ts';
import { FirestoreDefinition } from '../../../../shared/proto/google/firestore/v1/firestore.ts';
import { serviceOf } from '../rpc/definition.ts';

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

const FIRESTORE = serviceOf(FirestoreDefinition);

/** The generated service, with the two requests sized that carry documents in number. */
export const SizedFirestoreService = {
  ...FIRESTORE,
  commit: { ...FIRESTORE.commit, requestDeserialize: sized(FIRESTORE.commit.requestDeserialize) },
  batchWrite: {
    ...FIRESTORE.batchWrite,
    requestDeserialize: sized(FIRESTORE.batchWrite.requestDeserialize),
  },
};

function sized<Request extends object>(decode: (bytes: Buffer) => Request): (bytes: Buffer) => Sized<Request> {
  return (bytes) => ({ ...decode(bytes), bytes: bytes.length });
}

const unservedReason = (rpc: string, reason: string): string => `the local Firestore does not serve ${rpc}: ${reason}`;

/** RPCs that are refused, and why. */
export const UNSERVED = {
  PartitionQuery: unservedReason('PartitionQuery', 'it does not partition queries'),
  ExecutePipeline: unservedReason('ExecutePipeline', 'it runs structured queries only'),
  Listen: unservedReason('Listen', 'it tells nobody of changes; read again instead'),
  Write: unservedReason('Write', 'it takes no stream of writes; use Commit'),
};
