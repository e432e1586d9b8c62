import type { RowRequest } from './row-request.ts';
import type { TableName } from './table-name.ts';

/** What the service answers to a row request, in the connector's own words. Holds row data: nothing prints it. */
export type RowAnswer =
  | { readonly kind: 'conditional'; readonly predicateMatched: boolean }
  | {
      readonly kind: 'readModifyWrite';
      /** Only those that the request changed, in the service's order: family, qualifier, newest first. */
      readonly cells: readonly ChangedCell[];
    };

/** A cell as the request left it. */
export interface ChangedCell {
  readonly family: string;
  readonly qualifier: Buffer;
  readonly timestampMicros: bigint;
  readonly value: Buffer;
  readonly labels: readonly string[];
}

/** What became of an answered row request, for whoever asked. Holds row data: no log line has it. */
export interface RowResult {
  /** The request's own, or the id of the message or HTTP request that brought it. */
  readonly correlationId: string;
  /** The table that was written, whichever rule chose it. */
  readonly table: TableName;
  readonly rowKey: Buffer;
  readonly outcome: RowResultOutcome;
  /** An earlier attempt of the same request had applied already; this one changed nothing. */
  readonly replayed?: true;
  /** The predicate matched, or an earlier attempt had decided the request: the answer cannot say which. Nothing was changed now. */
  readonly mayBeReplayed?: true;
}

export type RowResultOutcome =
  | {
      readonly kind: 'conditional';
      readonly predicateMatched: boolean;
      readonly selectedBranch: 'then' | 'otherwise';
      /** False: the selected branch is empty, and the row is as it was. */
      readonly selectedBranchHasMutations: boolean;
    }
  | {
      readonly kind: 'readModifyWrite';
      readonly cells: readonly ResultCell[];
      /** Cells that the request changed and that a message has no room for: they are in the row. Absent: none. */
      readonly cellsOmitted?: number;
    };

export interface ResultCell extends ChangedCell {
  /** The last rule of the request for this column was an increment, so the value is an int64 (8 bytes, big-endian). */
  readonly isCounter?: true;
}

/** What an answer means for the request that it belongs to. Throws a `TypeError` when it belongs to another kind. */
export function rowOutcome(request: RowRequest, answer: RowAnswer): RowResultOutcome {
  if (answer.kind === 'readModifyWrite' && request.kind === 'readModifyWrite') {
    const { rules } = request.request;
    const isCounter = ({ family, qualifier }: ChangedCell): boolean =>
      rules.findLast((rule) => rule.family === family && rule.qualifier.equals(qualifier))?.kind === 'increment';
    return {
      kind: 'readModifyWrite',
      cells: answer.cells.map((cell) => ({ ...cell, ...(isCounter(cell) && { isCounter: true }) })),
    };
  }
  if (answer.kind !== 'conditional' || request.kind !== 'conditional') {
    throw new TypeError(`a ${request.kind} request cannot be answered by a ${answer.kind} answer`);
  }
  const { predicateMatched } = answer;
  const selectedBranch = predicateMatched ? 'then' : 'otherwise';
  const selectedBranchHasMutations = request.request[selectedBranch].length > 0;
  return { kind: 'conditional', predicateMatched, selectedBranch, selectedBranchHasMutations };
}
