import type {
  Mutation,
  Mutation_AddToCell,
  Mutation_MergeToCell,
  Value,
} from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { addInput, mergeState, type AggregateOperand } from './aggregates.ts';
import { sweepColumn } from './gc.ts';
import { columnRun, deleteCells, deleteFamily, findCell, latin1, putCell, type Cell, type Row } from './row.ts';
import type { Families } from './validate.ts';

/** How a list of mutations meets a row. */
export interface ApplyContext {
  readonly families: Families;
  /** The service's clock: what a cell of timestamp −1 gets, and what garbage collection measures ages by. */
  readonly nowMicros: bigint;
  /** Whether these mutations were applied before under the same idempotency token: aggregates are then left alone. */
  readonly isReplay: boolean;
  /** Whether writes free condemned cells at once. A change stream is told of each, so there a collector takes them. */
  readonly sweeps: boolean;
}

/**
 * Applies validated mutations to a row, in order. Nothing here can fail, which is what makes an entry atomic:
 * whatever can be refused was refused by `validate.ts` before the first of them. Changes `row`; no I/O.
 */
export function applyMutations(row: Row, mutations: readonly Mutation[], context: ApplyContext): void {
  for (const { mutation } of mutations) {
    switch (mutation?.$case) {
      case 'setCell': {
        const { familyName, columnQualifier, timestampMicros, value } = mutation.value;
        const micros = timestampMicros === -1n ? serverTime(context) : timestampMicros;
        put(row, { family: familyName, qualifier: latin1(columnQualifier), timestampMicros: micros, value }, context);
        break;
      }
      case 'addToCell':
      case 'mergeToCell':
        if (!context.isReplay) applyAggregate(row, mutation.$case, mutation.value, context);
        break;
      case 'deleteFromColumn': {
        const { familyName, columnQualifier, timeRange } = mutation.value;
        deleteCells(
          row,
          familyName,
          latin1(columnQualifier),
          timeRange?.startTimestampMicros ?? 0n,
          timeRange?.endTimestampMicros ?? 0n,
        );
        break;
      }
      case 'deleteFromFamily':
        deleteFamily(row, mutation.value.familyName);
        break;
      case 'deleteFromRow':
        row.cells = [];
        break;
      case undefined:
        break;
    }
  }
}

/** Whether it adds to what is there, and must be applied once. */
export const isAddition = ({ mutation }: Mutation): boolean =>
  mutation?.$case === 'addToCell' || mutation?.$case === 'mergeToCell';

function applyAggregate(
  row: Row,
  operation: 'addToCell' | 'mergeToCell',
  { familyName, columnQualifier, timestamp, input }: Mutation_AddToCell | Mutation_MergeToCell,
  context: ApplyContext,
): void {
  const aggregate = context.families.get(familyName)?.aggregate;
  if (!aggregate || columnQualifier?.kind?.$case !== 'rawValue' || timestamp?.kind?.$case !== 'rawTimestampMicros')
    return;
  const qualifier = latin1(columnQualifier.kind.value);
  const micros = timestamp.kind.value;
  const state = findCell(row, familyName, qualifier, micros)?.value;
  const operand = operandOf(input);
  const value =
    operation === 'addToCell' || typeof operand === 'bigint'
      ? addInput(aggregate, state, operand)
      : mergeState(aggregate, state, operand);
  put(row, { family: familyName, qualifier, timestampMicros: micros, value }, context);
}

function operandOf(input: Value | undefined): AggregateOperand {
  const kind = input?.kind;
  if (kind?.$case === 'intValue' || kind?.$case === 'bytesValue') return kind.value;
  return Buffer.from(kind?.$case === 'stringValue' ? kind.value : '');
}

function put(row: Row, cell: Cell, { families, nowMicros, sweeps }: ApplyContext): void {
  putCell(row, cell);
  if (!sweeps) return;
  const rule = families.get(cell.family)?.gcRule;
  if (rule && row.cells.length > 1) sweepColumn(row, columnRun(row, cell.family, cell.qualifier), rule, nowMicros);
}

/** The service's clock cut to milliseconds, the granularity of tables. */
export const serverTime = ({ nowMicros }: Pick<ApplyContext, 'nowMicros'>): bigint => nowMicros - (nowMicros % 1000n);
