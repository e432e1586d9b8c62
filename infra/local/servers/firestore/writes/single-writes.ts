import type { Document } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type { Write } from '../../../../../shared/proto/google/firestore/v1/write.ts';
import type { Empty } from '../../../../../shared/proto/google/protobuf/empty.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { RequestOf } from '../api.ts';
import { documentMessage } from '../documents/document.ts';
import { parseFieldPath } from '../documents/field-path.ts';
import { databaseOf } from '../documents/names.ts';
import type { FirestoreState } from '../state.ts';
import { commit } from './commit.ts';

/** The RPCs that write one document, each as the commit of one write. */

/** @throws INVALID_ARGUMENT without an id: this server makes none up */
export async function createDocument(
  state: FirestoreState,
  { parent, collectionId, documentId, document, mask }: RequestOf<'CreateDocument'>,
  signal: AbortSignal,
): Promise<Document> {
  if (documentId === '') throw new GrpcError('INVALID_ARGUMENT', 'document_id: this local server needs one');
  const name = `${parent}/${collectionId}/${documentId}`;
  const value = { name, fields: document?.fields ?? {}, createTime: undefined, updateTime: undefined };
  await commitOne(
    state,
    {
      ...BLANK,
      operation: { $case: 'update', value },
      currentDocument: { conditionType: { $case: 'exists', value: false } },
    },
    name,
    signal,
  );
  return written(state, name, mask);
}

export async function updateDocument(
  state: FirestoreState,
  { document, updateMask, currentDocument, mask }: RequestOf<'UpdateDocument'>,
  signal: AbortSignal,
): Promise<Document> {
  if (!document) throw new GrpcError('INVALID_ARGUMENT', 'document: must be there');
  const { name } = document;
  const write: Write = { ...BLANK, operation: { $case: 'update', value: document }, updateMask, currentDocument };
  await commitOne(state, write, name, signal);
  return written(state, name, mask);
}

export async function deleteDocument(
  state: FirestoreState,
  { name, currentDocument }: RequestOf<'DeleteDocument'>,
  signal: AbortSignal,
): Promise<Empty> {
  await commitOne(state, { ...BLANK, operation: { $case: 'delete', value: name }, currentDocument }, name, signal);
  return {};
}

const BLANK: Write = { operation: undefined, updateMask: undefined, updateTransforms: [], currentDocument: undefined };

async function commitOne(state: FirestoreState, write: Write, name: string, signal: AbortSignal): Promise<void> {
  const transaction = Buffer.alloc(0);
  const request = { database: databaseOf(name), writes: [write], transaction, requestOptions: undefined, bytes: 0 };
  await commit(state, request, signal);
}

function written({ store }: FirestoreState, name: string, mask: RequestOf<'UpdateDocument'>['mask']): Document {
  const document = store.get(name);
  if (!document) throw new GrpcError('NOT_FOUND', `Document not found: ${name}`);
  return documentMessage(document, mask?.fieldPaths.map(parseFieldPath));
}
