import type { RowReply } from '../../model/row-call.ts';
import { isConnectionLoss, isMissingFamily, type Status, STATUSES } from '../../model/status.ts';
import { formatTableName, type TableName } from '../../model/table-name.ts';
import { CheckAndMutateRowResponse } from '../../proto/google/bigtable/v2/bigtable.ts';
import type { Unfinished } from '../../markers/outcome.ts';

/**
 * What one answer means for the envelopes of a request. Pure. A marker makes a second attempt safe, so what is left
 * open is asked again, with the same bytes; only a status that does not depend on the system's state may end in a
 * rejection, and only of an envelope that was alone in its request.
 */
export type Verdict =
  | { readonly kind: 'applied' | 'deduplicated' }
  /** Some of several are applied already: which, their markers say. */
  | { readonly kind: 'some-are-there' }
  /** Some of several cannot be applied: the answer does not say which. */
  | { readonly kind: 'some-are-refused' }
  | { readonly kind: 'rejected'; readonly status: Status }
  /** A transient failure: worth another attempt, and the outcome if there is none. */
  | { readonly kind: 'retry'; readonly trouble: Unfinished }
  | Unfinished;

/** @param envelopes how many the request held. */
export function verdictOf(reply: RowReply, envelopes: number, table: TableName): Verdict {
  if (reply.kind === 'failed') return verdictOfFailure(reply.status, envelopes, table);
  const isMatched = predicateMatched(reply.answer);
  if (isMatched === undefined) return unfinished(table, UNREADABLE, 'refused', UNREADABLE.message);
  if (!isMatched) return { kind: 'applied' };
  return { kind: envelopes === 1 ? 'deduplicated' : 'some-are-there' };
}

function verdictOfFailure(status: Status, envelopes: number, table: TableName): Verdict {
  const { code, message } = status;
  if (isWorthAnother(status)) {
    const advice = 'whether it was applied is unknown; it is sent again as it is, and its marker decides';
    return { kind: 'retry', trouble: unfinished(table, status, 'transient', advice) };
  }
  if (STATUSES[code].blamesCall) return envelopes === 1 ? { kind: 'rejected', status } : { kind: 'some-are-refused' };
  switch (code) {
    case 'NOT_FOUND':
      if (!isMissingFamily(status)) return unfinished(table, status, 'missing-table', MISSING_TABLE);
      // One envelope's missing family refuses those beside it.
      return envelopes === 1
        ? unfinished(table, status, 'missing-family', MISSING_FAMILY)
        : { kind: 'some-are-refused' };
    case 'PERMISSION_DENIED':
    case 'UNAUTHENTICATED':
      return unfinished(table, status, 'refused', NO_PERMISSION);
    case 'FAILED_PRECONDITION':
      return unfinished(table, status, 'refused', WRONG_PROFILE);
    default:
      return unfinished(table, status, 'refused', message);
  }
}

/** A call that may be repeated without harm counts on a status that says too little as well. */
export const isWorthAnother = (status: Status): boolean =>
  STATUSES[status.code].passes !== 'no' || isConnectionLoss(status);

/** What a failed look at the markers means for the envelopes whose markers they are, when no attempt is left. */
export const unreadMarkers = (status: Status, table: TableName): Unfinished => ({
  kind: 'unfinished',
  reason: 'transient',
  status,
  message: `ReadRows on ${formatTableName(table)}, which asks which envelopes of a row are applied, answered ${status.code}: ${status.message}; they are sent again as they are, and their markers decide`,
});

const UNREADABLE: Status = { code: 'INTERNAL', message: 'the answer could not be read' };
const MISSING_TABLE = 'the table or the app profile does not exist; create it, or fix the destination';
const MISSING_FAMILY =
  'a column family that the record or the marker names does not exist; create the family, or fix the mapping';
const NO_PERMISSION =
  "the function's service account may not read and write the table; grant it roles/bigtable.user on the instance";
const WRONG_PROFILE =
  'conditional writes need an app profile with single-cluster routing that allows single-row transactions; choose one with appProfileId';

const unfinished = (table: TableName, status: Status, reason: Unfinished['reason'], advice: string): Unfinished => ({
  kind: 'unfinished',
  reason,
  status,
  message: `CheckAndMutateRow on ${formatTableName(table)} answered ${status.code}: ${advice}`,
});

function predicateMatched(answer: Buffer): boolean | undefined {
  // A message without fields, which nearly every answer is: nothing matched.
  if (answer.length === 0) return false;
  try {
    return CheckAndMutateRowResponse.decode(answer).predicateMatched;
  } catch {
    return undefined;
  }
}
