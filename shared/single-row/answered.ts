import type { RowAnswer } from '../model/row-answer.ts';
import type { RowRequest } from '../model/row-request.ts';
import type { Outcome } from './outcome.ts';

/**
 * What an answer says of the request that was asked for. Pure. A guarded request was sent with its marker in the
 * predicate, so that "matched" also means "decided before": certainly so where the request's own predicate lets nothing
 * through, and possibly so otherwise.
 */
export function answered(
  asked: RowRequest,
  answer: RowAnswer,
  isGuarded: boolean,
): Extract<Outcome, { kind: 'answered' }> {
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
