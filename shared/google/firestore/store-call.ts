import { abortable } from '../../base/abortable.ts';
import { abortReason } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import { type StatusName, statusName } from '../../model/status.ts';
import { StoreError } from '../../model/store-error.ts';

/**
 * One call of the client, as a step of an operation: ends with the signal, and rejects with a {@link StoreError} that
 * names the operation. The client itself cannot be cancelled: a commit that nobody waits for any more may still happen,
 * also minutes later, because it repeats some statuses for up to ten minutes (see test/client-facts). That is why every
 * commit has preconditions.
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

/** Statuses by which a commit tells that a document was no longer what its precondition says: nothing was changed. */
const PRECONDITION_STATUSES: ReadonlySet<StatusName> = new Set<StatusName>([
  'ABORTED',
  'ALREADY_EXISTS',
  'FAILED_PRECONDITION',
  'NOT_FOUND',
]);

export const isLostPrecondition = (error: unknown): boolean =>
  error instanceof StoreError && PRECONDITION_STATUSES.has(error.status);

/** The client's errors carry the number of the status; what has none never reached the service. */
function statusOf(error: unknown): StatusName {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? statusName(code) : 'UNKNOWN';
}
