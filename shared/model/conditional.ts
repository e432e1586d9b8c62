import { RecordError } from '../base/errors.ts';
import { filterProblem, type RowFilter } from './filter/filter.ts';
import { isInt64 } from './int64.ts';
import { MAX_MUTATIONS, type Mutation } from './mutation.ts';
import { familyProblem, mutationsProblem, qualifierProblem, rowKeyProblem, valueProblem } from './mutation-rules.ts';

/**
 * Requests that read and write one row in one atomic step on the service (`CheckAndMutateRow`, `ReadModifyWriteRow`).
 * Values only: build them with the functions here, which check, copy and freeze. A request that breaks a rule throws
 * a `RecordError`; it would break it again at every delivery.
 */
export interface ConditionalRequest {
  readonly rowKey: Buffer;
  /** Absent asks whether the row holds any cell at all, those of undeclared families included. */
  readonly predicate?: RowFilter;
  /** Applied when the predicate lets a cell through. */
  readonly then: readonly Mutation[];
  /** Applied when it lets none through. */
  readonly otherwise: readonly Mutation[];
}

export type ReadModifyWriteRule =
  | { readonly kind: 'append'; readonly family: string; readonly qualifier: Buffer; readonly value: Buffer }
  | {
      readonly kind: 'increment';
      readonly family: string;
      readonly qualifier: Buffer;
      /** May be zero or negative; the stored counter is 8 bytes, big-endian. Overflow is the service's to refuse. */
      readonly amount: bigint;
    };

/** Rules apply in order; two may name the same column. An unset cell counts as empty, or zero. */
export interface ReadModifyWriteRequest {
  readonly rowKey: Buffer;
  readonly rules: readonly ReadModifyWriteRule[];
}

/** Checks and freezes a conditional request: at least one branch with a mutation, each with 100,000 at most. */
export function conditionalRequest(request: ConditionalRequest): ConditionalRequest {
  refuse(rowKeyProblem(request.rowKey));
  if (request.then.length === 0 && request.otherwise.length === 0) {
    refuse('conditional request: must have a mutation in one of its branches, got none');
  }
  refuse(request.predicate && filterProblem(request.predicate, 'predicate'));
  refuse(mutationsProblem(request.then, 'then') ?? mutationsProblem(request.otherwise, 'otherwise'));
  return Object.freeze({
    ...request,
    then: Object.freeze([...request.then]),
    otherwise: Object.freeze([...request.otherwise]),
  });
}

/** Checks and freezes a read-modify-write request: 1 to 100,000 rules, in order. */
export function readModifyWriteRequest(request: ReadModifyWriteRequest): ReadModifyWriteRequest {
  refuse(rowKeyProblem(request.rowKey));
  const { length } = request.rules;
  if (length === 0 || length > MAX_MUTATIONS) {
    refuse(`read-modify-write request: must have 1 to ${MAX_MUTATIONS} rules, got ${length}`);
  }
  for (const [index, rule] of request.rules.entries()) {
    const problem = ruleProblem(rule);
    if (problem !== undefined) refuse(`rules[${index}] (${rule.kind}): ${problem}`);
  }
  return Object.freeze({ ...request, rules: Object.freeze([...request.rules]) });
}

/** Why a rule cannot be applied to any row, or undefined. */
export function ruleProblem(rule: ReadModifyWriteRule): string | undefined {
  const problem = familyProblem(rule.family) ?? qualifierProblem(rule.qualifier);
  if (problem !== undefined) return problem;
  if (rule.kind === 'append') {
    return rule.value.length === 0 ? `value ${APPEND_RULE}, got no byte` : valueProblem(rule.value);
  }
  return isInt64(rule.amount) ? undefined : 'amount must be a signed 64-bit integer, got a larger one';
}

/** Appending nothing is refused; incrementing by zero is not. */
export const APPEND_RULE = 'must not be empty';

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new RecordError(problem);
}
