import type {
  CheckAndMutateRowRequest,
  MutateRowRequest,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Mutation } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { nowMicros, tableOf, tableOfTransaction, type Database } from '../database.ts';
import { compileFilter, passingCells } from '../filters/filters.ts';
import type { Limits } from '../limits.ts';
import { latin1 } from '../rows/row.ts';
import type { TableCopy } from '../rows/table-copy.ts';
import {
  entryProblem,
  missingFamily,
  missingFamilyMessage,
  mutationsProblem,
  rowKeyProblem,
  typeProblem,
} from '../rows/validate.ts';

/** MutateRow: one entry, whose refusal is the status of the call. */
export function mutateRow(database: Database, request: MutateRowRequest): void {
  const table = tableOf(database, request);
  refuse(entryProblem(request, database.limits));
  refuseForSchema(table, request.rowKey, request.mutations);
  table.commit(request, nowMicros(database));
}

/**
 * CheckAndMutateRow: whether the predicate leaves any cell of the row decides which mutations are applied, in one step
 * that no other write can come between. Without a predicate, whether the row has any cell. Both branches are checked
 * before either is chosen.
 */
export function checkAndMutateRow(database: Database, request: CheckAndMutateRowRequest): boolean {
  const table = tableOfTransaction(database, request);
  const { rowKey, predicateFilter, trueMutations, falseMutations } = request;
  refuse(rowKeyProblem(rowKey, database.limits));
  refuseBranches(trueMutations, falseMutations, rowKey, database.limits);
  refuseForSchema(table, rowKey, trueMutations);
  refuseForSchema(table, rowKey, falseMutations);
  const predicate = compileFilter(predicateFilter, table.families, database);

  const now = nowMicros(database);
  const key = latin1(rowKey);
  const row = table.rows.get(key) ?? { key, cells: [] };
  const isMatched = passingCells(predicate, row, table.gcRuleOf, now).length > 0;
  const mutations = isMatched ? trueMutations : falseMutations;
  if (mutations.length > 0) table.commit({ rowKey, mutations }, now);
  return isMatched;
}

function refuseBranches(
  trueMutations: readonly Mutation[],
  falseMutations: readonly Mutation[],
  rowKey: Buffer,
  limits: Limits,
): void {
  if (trueMutations.length === 0 && falseMutations.length === 0) {
    refuse('No mutations provided: at least one of true_mutations and false_mutations must be non-empty');
  }
  refuse(mutationsProblem(rowKey, trueMutations, limits) ?? mutationsProblem(rowKey, falseMutations, limits));
}

/** Throws NOT_FOUND for an unknown family, INVALID_ARGUMENT for a mutation that a family's type does not take. */
function refuseForSchema({ families, name }: TableCopy, rowKey: Buffer, mutations: readonly Mutation[]): void {
  if (missingFamily(mutations, families) !== undefined) {
    throw new GrpcError('NOT_FOUND', missingFamilyMessage(rowKey, name));
  }
  refuse(typeProblem(mutations, families));
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new GrpcError('INVALID_ARGUMENT', problem);
}
