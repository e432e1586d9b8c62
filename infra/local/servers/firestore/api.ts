import {
  BatchWriteRequest,
  CommitRequest,
  FirestoreDefinition,
} from '../../../../shared/proto/google/firestore/v1/firestore.ts';
import type { CallsOf } from '../rpc/faults.ts';

/** A request that knows how long it was on the wire. */
export type Sized<Request> = Request & { readonly bytes: number };

const { methods } = FirestoreDefinition;

/** The generated API, with the two requests sized that carry documents in number. */
export const SIZED_FIRESTORE = {
  ...FirestoreDefinition,
  methods: {
    ...methods,
    commit: { ...methods.commit, requestType: sized(CommitRequest) },
    batchWrite: { ...methods.batchWrite, requestType: sized(BatchWriteRequest) },
  },
};

/** The RPCs that the local Firestore serves, by their names in the protos, with what can go wrong with each. */
export type FirestoreCalls = CallsOf<typeof SIZED_FIRESTORE>;

export type RequestOf<Method extends keyof FirestoreCalls> = FirestoreCalls[Method]['request'];

/** RPCs that are refused, and why. */
export const UNSERVED = {
  PartitionQuery: 'the local Firestore does not serve PartitionQuery: it does not partition queries',
  ExecutePipeline: 'the local Firestore does not serve ExecutePipeline: it runs structured queries only',
  Listen: 'the local Firestore does not serve Listen: it tells nobody of changes; read again instead',
  Write: 'the local Firestore does not serve Write: it takes no stream of writes; use Commit',
};

interface Wire<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

function sized<Request extends object>(type: Wire<Request>): Wire<Sized<Request>> {
  return {
    encode: (request) => type.encode(request),
    decode: (bytes) => ({ ...type.decode(bytes), bytes: bytes.length }),
  };
}
