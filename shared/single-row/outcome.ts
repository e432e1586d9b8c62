import { abortReason } from '../base/clock.ts';
import type { RecordError, RedeliveryReason } from '../base/errors.ts';
import type { RowAnswer } from '../model/row-result.ts';
import type { RowRequest } from '../model/row-request.ts';
import type { Status } from '../model/status.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';

/** What became of one request after its one attempt. Nothing is thrown, and what is not known is said to be unknown. Pure. */
export type Outcome =
  | Answered
  /** The request itself is wrong and will be wrong at every attempt: it belongs to the failure policy. */
  | { readonly kind: 'rejected'; readonly status: Status; readonly message: string }
  /** It may or may not be applied, and nobody will ever tell. */
  | { readonly kind: 'ambiguous'; readonly status: Status; readonly message: string; readonly isTimeout: boolean }
  /** It failed for a reason that is not its own. */
  | {
      readonly kind: 'fatal';
      readonly reason: RedeliveryReason;
      /** Absent where nothing was sent. */
      readonly status?: Status;
      readonly message: string;
    }
  /** `maxInFlightRequests` are out and the caller would not wait. */
  | { readonly kind: 'busy' };

export interface Answered {
  readonly kind: 'answered';
  readonly answer: RowAnswer;
  /** The selected branch of a conditional request holds no mutation. */
  readonly isEmptyBranch: boolean;
  /** An earlier attempt had applied it and this one changed nothing; told by its marker. */
  readonly replayed?: true;
  /**
   * The predicate matched, or an earlier attempt had decided it and its marker matched: one answer cannot say which.
   * Either way nothing was changed now, and the first decision stands.
   */
  readonly mayBeReplayed?: true;
}

/**
 * The outcome of a request that was answered. A guarded request was sent with its marker in the predicate, so that
 * "matched" also means "decided before": certainly so where the request's own predicate lets nothing through, and
 * possibly so otherwise.
 */
export function answered(asked: RowRequest, answer: RowAnswer, isGuarded: boolean): Answered {
  if (answer.kind !== 'conditional' || asked.kind !== 'conditional') {
    return { kind: 'answered', answer, isEmptyBranch: false };
  }
  const { predicateMatched } = answer;
  const { predicate, then, otherwise } = asked.request;
  if (isGuarded && predicateMatched && predicate?.kind === 'none') {
    // What it was answered at first: nothing else can be.
    const first: RowAnswer = { kind: 'conditional', predicateMatched: false };
    return { kind: 'answered', answer: first, isEmptyBranch: false, replayed: true };
  }
  return {
    kind: 'answered',
    answer,
    isEmptyBranch: (predicateMatched ? then : otherwise).length === 0,
    ...(isGuarded && predicateMatched && { mayBeReplayed: true }),
  };
}

/** A request that breaks a rule which the service would refuse it for. */
export const rejectedUnsent = ({ message }: RecordError): Outcome => ({
  kind: 'rejected',
  status: { code: 'INVALID_ARGUMENT', message },
  message: `refused before it was sent: ${message}`,
});

/** No request could be made of it, or there was no time left to. Counted nowhere. */
export function unsent(table: TableName, status: Status, signal: AbortSignal): Outcome {
  if (signal.aborted) return outOfTime(signal);
  const message = `no request could be made for ${formatTableName(table)}, so nothing was applied: ${status.message}`;
  return { kind: 'fatal', reason: 'client', message };
}

export const outOfTime = (signal: AbortSignal): Outcome => ({
  kind: 'fatal',
  reason: 'deadline',
  message: `not sent and not applied: ${abortReason(signal).message}`,
});

export const WITHHELD: Outcome = {
  kind: 'fatal',
  reason: 'transient',
  message: 'not sent and not applied: another request of the same message failed, and both are redelivered together',
};

export const CLOSED: Outcome = {
  kind: 'fatal',
  reason: 'draining',
  message: 'this instance is shutting down; whether a request that was out is applied is not known',
};
