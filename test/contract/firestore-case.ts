import type { CollectionReference, Firestore, Query } from '@google-cloud/firestore';
import type { FirestoreDefinition } from '../../shared/proto/google/firestore/v1/firestore.ts';
import { ROOT } from '../support/firestore-raw-client.ts';
import { type ClientOf } from '../../infra/local/servers/rpc/client.ts';

/** One promise of the service: what a client does, and what the service answers it. */
export interface ContractCase {
  readonly name: string;
  /** Returns plain values. */
  run(session: Session): Promise<unknown>;
  readonly service: unknown;
}

/** Both ways to one server, and a collection that no other case uses. */
export interface Session {
  readonly client: Firestore;
  readonly raw: ClientOf<FirestoreDefinition>;
  readonly collection: CollectionReference;
}

/** The full name of a document of the session's collection. */
export const nameOf = ({ collection }: Session, id: string): string => `${ROOT}/${collection.path}/${id}`;

/** The ids that a query finds, in its order. */
export const idsOf = async (query: Query): Promise<string[]> => (await query.get()).docs.map(({ id }) => id);

/** What is in a document; undefined where there is none. */
export const dataOf = async ({ collection }: Session, id: string): Promise<unknown> =>
  (await collection.doc(id).get()).data();
