import type { WriteBatch, WriteResult } from '@google-cloud/firestore';
import { abortable } from '../../base/abort.ts';
import { abortReason } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import { STATUSES, type StatusName, statusName } from '../../model/status.ts';
import { type CommitResult, StoreError } from '../../model/store.ts';

/**
 * One call of the client, as a step of an operation: ends with the signal, and rejects with a {@link StoreError} that
 * names the operation. The client itself cannot be cancelled: a commit that nobody waits for any more may still happen,
 * also minutes later, because it repeats some statuses for up to ten minutes (see test/client-facts). That is why every
 * commit has preconditions, or says the same at any time: an id means the same envelopes forever.
 *
 * @param operation what is attempted, as a phrase that follows "could not".
 */
export async function storeCall<Result>(
  operation: string,
  signal: AbortSignal,
  call: () => Promise<Result>,
): Promise<Result> {
  const hasEnded = (): boolean => signal.aborted;
  if (hasEnded()) throw abortReason(signal);
  try {
    return await abortable(call(), signal);
  } catch (error) {
    if (hasEnded()) throw abortReason(signal);
    throw new StoreError(operation, statusOf(error), toError(error).message, { cause: error });
  }
}

/** Whether a commit tells that a document was no longer what its precondition says: nothing was changed. */
export const isLostPrecondition = (error: unknown): boolean =>
  error instanceof StoreError && STATUSES[error.status].blamesState;

/** Sends one atomic commit; undefined where a precondition was lost, and then nothing was changed by this attempt. */
export async function commitBatch(
  operation: string,
  batch: WriteBatch,
  signal: AbortSignal,
): Promise<readonly WriteResult[] | undefined> {
  try {
    return await storeCall(operation, signal, () => batch.commit());
  } catch (error) {
    if (isLostPrecondition(error)) return undefined;
    throw error;
  }
}

export const resultOf = (results: readonly WriteResult[] | undefined): CommitResult =>
  results ? 'committed' : 'conflict';

/** The client's errors carry the number of the status; what has none never reached the service. */
function statusOf(error: unknown): StatusName {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? statusName(code) : 'UNKNOWN';
}
