import type { ChangedCell, RowAnswer } from './row-answer.ts';
import type { RowRequest } from './row-request.ts';
import type { TableName } from './table-name.ts';

/** What became of an answered row request, for whoever asked. Holds row data: no log line has it. */
export interface RowResult {
  /** The request's own, or the id of the message or HTTP request that brought it. */
  readonly correlationId: string;
  /** The table that was written, whichever rule chose it. */
  readonly table: TableName;
  readonly rowKey: Buffer;
  readonly outcome: RowResultOutcome;
  /** An earlier delivery of the same request had applied already; this one changed nothing. */
  readonly replayed?: true;
}

export type RowResultOutcome =
  | {
      readonly kind: 'conditional';
      readonly predicateMatched: boolean;
      readonly selectedBranch: 'then' | 'otherwise';
      /** False: the selected branch is empty, and the row is as it was. */
      readonly selectedBranchHasMutations: boolean;
    }
  | { readonly kind: 'readModifyWrite'; readonly cells: readonly ChangedCell[] };

/** What an answer means for the request that it belongs to. Throws a `TypeError` when it belongs to another kind. */
export function rowOutcome(request: RowRequest, answer: RowAnswer): RowResultOutcome {
  if (answer.kind === 'readModifyWrite' && request.kind === 'readModifyWrite') return answer;
  if (answer.kind !== 'conditional' || request.kind !== 'conditional') {
    throw new TypeError(`a ${request.kind} request cannot be answered by a ${answer.kind} answer`);
  }
  const { predicateMatched } = answer;
  const selectedBranch = predicateMatched ? 'then' : 'otherwise';
  const selectedBranchHasMutations = request.request[selectedBranch].length > 0;
  return { kind: 'conditional', predicateMatched, selectedBranch, selectedBranchHasMutations };
}
