import { type ClientReadableStream } from '@grpc/grpc-js';
import { FirestoreDefinition } from '../../shared/proto/google/firestore/v1/firestore.ts';
import type {
  BatchGetDocumentsRequest,
  CommitRequest,
  RunQueryRequest,
  BatchGetDocumentsResponse,
  CommitResponse,
  RunQueryResponse,
} from '../../shared/proto/google/firestore/v1/firestore.ts';
import type { Value } from '../../shared/proto/google/firestore/v1/document.ts';
import type { Write } from '../../shared/proto/google/firestore/v1/write.ts';
import { unary } from '../../infra/local/cloud/unary.ts';
import { statusName } from '../../shared/model/status.ts';
import { connectTo, type ClientOf } from '../../infra/local/servers/rpc/client.ts';

/** Firestore's gRPC API without the official client, which retries, packs requests together and hides transactions. */
export const DATABASE = 'projects/p/databases/(default)';
export const ROOT = `${DATABASE}/documents`;

export const connect = (address: string): ClientOf<FirestoreDefinition> =>
  connectTo(FirestoreDefinition, address, { 'grpc.max_receive_message_length': -1 });

export const integer = (value: bigint): Value => ({ valueType: { $case: 'integerValue', value } });
export const text = (value: string): Value => ({ valueType: { $case: 'stringValue', value } });

/** A write that sets the whole document. */
export const set = (name: string, fields: Readonly<Record<string, Value>>, rest: Partial<Write> = {}): Write => ({
  operation: { $case: 'update', value: { name, fields, createTime: undefined, updateTime: undefined } },
  updateMask: undefined,
  updateTransforms: [],
  currentDocument: undefined,
  ...rest,
});

export const remove = (name: string): Write => ({
  operation: { $case: 'delete', value: name },
  updateMask: undefined,
  updateTransforms: [],
  currentDocument: undefined,
});

const NO_TRANSACTION = Buffer.alloc(0);

export function commit(
  client: ClientOf<FirestoreDefinition>,
  writes: Write[],
  rest: Partial<CommitRequest> = {},
): Promise<CommitResponse> {
  const request = { database: DATABASE, writes, transaction: NO_TRANSACTION, requestOptions: undefined, ...rest };
  return unary(client.commit.bind(client), request);
}

export async function begin(
  client: ClientOf<FirestoreDefinition>,
  mode: 'readOnly' | 'readWrite' = 'readWrite',
): Promise<Buffer> {
  const options =
    mode === 'readOnly'
      ? ({ $case: 'readOnly', value: { consistencySelector: undefined } } as const)
      : ({ $case: 'readWrite', value: { retryTransaction: NO_TRANSACTION, concurrencyMode: 0 } } as const);
  const request = { database: DATABASE, options: { mode: options }, requestOptions: undefined };
  return (await unary(client.beginTransaction.bind(client), request)).transaction;
}

export async function rollback(client: ClientOf<FirestoreDefinition>, transaction: Buffer): Promise<void> {
  await unary(client.rollback.bind(client), { database: DATABASE, transaction, requestOptions: undefined });
}

export function batchGet(
  client: ClientOf<FirestoreDefinition>,
  documents: string[],
  consistencySelector?: BatchGetDocumentsRequest['consistencySelector'],
): Promise<BatchGetDocumentsResponse[]> {
  const request = { database: DATABASE, documents, mask: undefined, consistencySelector, requestOptions: undefined };
  return collected(client.batchGetDocuments(request));
}

export const inTransaction = (value: Buffer) => ({ $case: 'transaction', value }) as const;

/** A query for documents of a collection with this value in this field. */
export function queryEqual(
  client: ClientOf<FirestoreDefinition>,
  collectionId: string,
  fieldPath: string,
  value: Value,
  consistencySelector?: RunQueryRequest['consistencySelector'],
): Promise<RunQueryResponse[]> {
  const where = { $case: 'fieldFilter', value: { field: { fieldPath }, op: 5, value } } as const;
  const query = {
    select: undefined,
    from: [{ collectionId, allDescendants: false }],
    where: { filterType: where },
    orderBy: [],
    startAt: undefined,
    endAt: undefined,
    offset: 0,
    limit: undefined,
    findNearest: undefined,
  };
  return collected(
    client.runQuery({
      parent: ROOT,
      queryType: { $case: 'structuredQuery', value: query },
      consistencySelector,
      explainOptions: undefined,
      requestOptions: undefined,
    }),
  );
}

/** Every message of a stream, or its error. */
export function collected<Message>(stream: ClientReadableStream<Message>): Promise<Message[]> {
  const messages: Message[] = [];
  return new Promise((resolve, reject) => {
    stream.on('data', (message: Message) => messages.push(message));
    stream.once('error', reject);
    stream.once('end', () => {
      resolve(messages);
    });
  });
}

/** The name of the status that a call ends with. */
export async function code(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'OK';
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'number') return statusName(error.code);
    throw error;
  }
}
