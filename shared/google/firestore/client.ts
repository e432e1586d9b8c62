import type { AggregateField, FieldValue, Firestore, Timestamp } from '@google-cloud/firestore';
import { toError } from '../../base/errors.ts';
import { StoreError } from '../../model/store.ts';

/** A client, and the values that only its own classes can make. */
export interface FirestoreClient {
  readonly db: Firestore;
  readonly Timestamp: typeof Timestamp;
  readonly FieldValue: typeof FieldValue;
  readonly AggregateField: typeof AggregateField;
}

export interface DatabaseName {
  /** `(default)`, or the id of a named database. */
  readonly databaseId: string;
  /** Default: the project of the function, which the client finds out. */
  readonly projectId?: string;
}

/**
 * The official client of one database, loaded here and not before: it takes 300 to 400 ms. Obeys FIRESTORE_EMULATOR_HOST.
 * Elsewhere credentials are looked for at once, and their absence rejects with a {@link StoreError}: left to itself the
 * client (9.4.1) looks for them behind the first request and ends the process with an unhandled rejection.
 */
export async function openFirestore({ databaseId, projectId }: DatabaseName): Promise<FirestoreClient> {
  const emulator = process.env.FIRESTORE_EMULATOR_HOST;
  if (emulator === undefined || emulator === '') await findCredentials();
  const { Firestore, Timestamp, FieldValue, AggregateField } = await import('@google-cloud/firestore');
  const db = new Firestore({ databaseId, ...(projectId !== undefined && { projectId }) });
  return { db, Timestamp, FieldValue, AggregateField };
}

/** The least that they must be good for. */
const SCOPE = 'https://www.googleapis.com/auth/datastore';

async function findCredentials(): Promise<void> {
  const { GoogleAuth } = await import('google-auth-library');
  try {
    await new GoogleAuth({ scopes: SCOPE }).getClient();
  } catch (error) {
    throw new StoreError('find credentials to work', 'UNAUTHENTICATED', toError(error).message, { cause: error });
  }
}
