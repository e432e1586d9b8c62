import { ConnectorError } from '../base/errors.ts';
import { STATUSES, type StatusName } from './status.ts';

/** A document as it was read. Opaque; a commit that names it happens only if the document is unchanged. */
export type Version = string;

export interface Versioned<Value> {
  readonly value: Value;
  readonly version: Version;
}

/** `conflict`: a document had changed since it was read, and nothing at all was written. */
export type CommitResult = 'committed' | 'conflict';

/**
 * The durable store did not do what it was asked, or did not say that it did: a commit may have happened or not.
 * Nothing is lost by it: a message that was not acknowledged is redelivered, and a decision that was not stored is made again.
 */
export class StoreError extends ConnectorError {
  override readonly name = 'StoreError';
  /** What was attempted, as a phrase: `store 3 segments`. */
  readonly operation: string;
  readonly status: StatusName;

  constructor(operation: string, status: StatusName, detail: string, options?: ErrorOptions) {
    super(
      `could not ${operation} in Firestore: ${status}: ${detail.replace(/[.\s]+$/, '')}. ${adviceFor(status)}`,
      options,
    );
    this.operation = operation;
    this.status = status;
  }

  /** Whether the same call, sent again, may succeed without anybody changing anything. Its preconditions make a repetition harmless. */
  get isTransient(): boolean {
    return STATUSES[this.status].passes !== 'no';
  }
}

function adviceFor(status: StatusName): string {
  switch (status) {
    case 'PERMISSION_DENIED':
      return 'Grant roles/datastore.user on the project of the database to the service account of the function, or roles/datastore.viewer to whoever asks for the status';
    case 'UNAUTHENTICATED':
      return 'A function needs a service account with roles/datastore.user; on your own machine log in with "gcloud auth application-default login", or set FIRESTORE_EMULATOR_HOST';
    case 'NOT_FOUND':
      return 'Create the Firestore database (Native mode) that firestoreDatabase names, in the project of the function';
    case 'FAILED_PRECONDITION':
      return 'The database must be in Native mode, with the single-field indexes on by which documents are found: number (of checkpoints) and tryAt (of rests) of a staged sink; open and startedAt (of runs), turn, end, failing and the counts (of splits) of a scan; open, turn, rest and end (of partitions) and generation (of merges and missing) of a change stream';
    case 'RESOURCE_EXHAUSTED':
      return 'A quota of the database is used up; the work is tried again';
    case 'INVALID_ARGUMENT':
    case 'OUT_OF_RANGE':
    case 'UNIMPLEMENTED':
    case 'DATA_LOSS':
      return 'No repetition fixes it: look at the documents that the operation names';
    default:
      return 'The work is tried again; if it stays, look at the status of Firestore in the region of the database';
  }
}
