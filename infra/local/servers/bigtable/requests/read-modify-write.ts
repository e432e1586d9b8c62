import type { ReadModifyWriteRowRequest } from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type {
  Family,
  Mutation,
  ReadModifyWriteRule,
  Row,
} from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { nowMicros, tableOfTransaction, type Database } from '../database.ts';
import type { Limits } from '../limits.ts';
import { int64Bytes } from '../rows/aggregates.ts';
import { serverTime } from '../rows/apply.ts';
import { isCondemned } from '../rows/gc.ts';
import { bytesOf, columnRun, latin1, type Cell } from '../rows/row.ts';
import type { TableCopy } from '../rows/table-copy.ts';
import { missingFamilyMessage, rowKeyProblem } from '../rows/validate.ts';

/**
 * ReadModifyWriteRow: every rule appends to or increments the newest cell of a column and writes the result as a new
 * version, stamped with the server's time but never earlier than the cell it replaces. All rules are evaluated before
 * the first write, so one that fails leaves the row untouched. Answers with the changed cells only.
 */
export function readModifyWriteRow(database: Database, request: ReadModifyWriteRowRequest): Row {
  const table = tableOfTransaction(database, request);
  const { rowKey, rules } = request;
  const problem = rowKeyProblem(rowKey, database.limits) ?? rulesProblem(rules, table, database.limits);
  if (problem !== undefined) throw new GrpcError('INVALID_ARGUMENT', problem);
  if (rules.some(({ familyName }) => !table.families.has(familyName))) {
    throw new GrpcError('NOT_FOUND', missingFamilyMessage(rowKey, table.name));
  }

  const now = nowMicros(database);
  const written = evaluate(table, latin1(rowKey), rules, now);
  table.commit({ rowKey, mutations: written.map(asSetCell) }, now);
  return { key: rowKey, families: groupByFamily(written) };
}

function rulesProblem(rules: readonly ReadModifyWriteRule[], table: TableCopy, limits: Limits): string | undefined {
  if (rules.length === 0) return 'No rules provided';
  if (rules.length > limits.mutations)
    return `Request has ${rules.length} rules; it may not exceed ${limits.mutations}`;
  for (const { familyName, columnQualifier, rule } of rules) {
    if (!rule) return 'Rule is not set';
    if (columnQualifier.length > limits.qualifierBytes)
      return `Column qualifier may not exceed ${limits.qualifierBytes} bytes`;
    if (table.families.get(familyName)?.aggregate) {
      return `ReadModifyWriteRow is not allowed in the aggregate column family '${familyName}'`;
    }
  }
  return undefined;
}

function evaluate(table: TableCopy, key: string, rules: readonly ReadModifyWriteRule[], now: bigint): Cell[] {
  const written = new Map<string, Cell>();
  for (const rule of rules) {
    const family = rule.familyName;
    const qualifier = latin1(rule.columnQualifier);
    const column = `${family}:${qualifier}`;
    const before = written.get(column) ?? newestCell(table, key, family, qualifier, now);
    const micros = serverTime({ nowMicros: now });
    const timestampMicros = before && before.timestampMicros > micros ? before.timestampMicros : micros;
    written.set(column, { family, qualifier, timestampMicros, value: result(rule, before?.value) });
  }
  return [...written.values()];
}

function newestCell(table: TableCopy, key: string, family: string, qualifier: string, now: bigint): Cell | undefined {
  const row = table.rows.get(key);
  const newest = row?.cells[columnRun(row, family, qualifier).start];
  const isThere = newest?.family === family && newest.qualifier === qualifier;
  const rule = table.gcRuleOf(family);
  return isThere && !(rule && isCondemned(rule, newest, 0, now)) ? newest : undefined;
}

/** A column without a cell counts as empty, or as 0. An increment outside int64 wraps around: the service documents nothing. */
function result({ rule, familyName }: ReadModifyWriteRule, before: Buffer | undefined): Buffer {
  if (rule?.$case === 'appendValue') return before ? Buffer.concat([before, rule.value]) : rule.value;
  if (before && before.length !== 8) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `Cannot increment in column family '${familyName}': the cell holds ${before.length} bytes, not an 8-byte big-endian integer`,
    );
  }
  return int64Bytes((before?.readBigInt64BE() ?? 0n) + (rule?.value ?? 0n));
}

const asSetCell = ({ family, qualifier, timestampMicros, value }: Cell): Mutation => ({
  mutation: {
    $case: 'setCell',
    value: { familyName: family, columnQualifier: bytesOf(qualifier), timestampMicros, value },
  },
});

/** In the service's order: family, then qualifier. */
function groupByFamily(written: readonly Cell[]): Family[] {
  const names = [...new Set(written.map(({ family }) => family))].toSorted();
  return names.map((name) => ({
    name,
    columns: written
      .filter(({ family }) => family === name)
      .toSorted((left, right) => (left.qualifier < right.qualifier ? -1 : 1))
      .map(({ qualifier, timestampMicros, value }) => ({
        qualifier: bytesOf(qualifier),
        cells: [{ timestampMicros, value, labels: [] }],
      })),
  }));
}
