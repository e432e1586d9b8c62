import * as z from 'zod';
import type { ResultCell, RowResult, RowResultOutcome } from '../../model/row-result.ts';
import { formatTableName, parseTableName, type TableName } from '../../model/table-name.ts';
import { bytesJson, int64Json } from '../../forms/bytes-json.ts';
import { bytes, flag, int64, only, text } from '../../forms/leaves.ts';
import { VERSION } from './rules.ts';
import { body, listOf, oneOf } from '../../forms/shapes.ts';
import { cellValue, correlationId, rowKey, table } from './leaves.ts';

/** Results of row requests in JSON, version 1: what is written for callers, and how consumers read it back. Pure. */

/** Of one request: no more cells change than it has rules. */
const MAX_CELLS = 100_000;
const MAX_LABELS = 100;

const cell = body({
  family: text,
  qualifier: bytes,
  timestampMicros: int64,
  value: cellValue.meta({ description: 'An {"int64": …} where the last rule for the column was an increment.' }),
  labels: z.exactOptional(listOf(text, MAX_LABELS)),
})
  .meta({ id: 'cell' })
  .transform(({ value: { value, isCounter }, labels = [], ...column }): ResultCell => ({
    ...column,
    value,
    labels,
    ...(isCounter && { isCounter: true }),
  }));

const outcome = oneOf<RowResultOutcome>({
  conditional: body({
    predicateMatched: flag,
    selectedBranch: only('then', 'otherwise'),
    selectedBranchHasMutations: flag.meta({ description: 'False: the branch is empty, and the row is as it was.' }),
  }).transform((value): RowResultOutcome => ({ kind: 'conditional', ...value })),
  readModifyWrite: body({
    cells: listOf(cell, MAX_CELLS).meta({ description: 'The cells that the request changed, as it left them.' }),
    cellsOmitted: z.exactOptional(z.int().min(1).max(MAX_CELLS)).meta({
      description: 'So many more cells were changed that the message has no room for. Read them from the row.',
    }),
  }).transform((value): RowResultOutcome => ({ kind: 'readModifyWrite', ...value })),
});

export const resultDocument = body({
  version: only(VERSION),
  correlationId: correlationId.meta({ description: 'The request’s own, or the id of what brought it.' }),
  table: table
    .transform((name, context): TableName => {
      const parsed = parseTableName(name, undefined);
      if (parsed) return parsed;
      context.issues.push({ code: 'custom', message: 'must be project.instance.table, got a bare table', input: name });
      return z.NEVER;
    })
    .meta({ description: '`project.instance.table`: the table that was used.' }),
  rowKey,
  outcome,
  replayed: z
    .exactOptional(only(true))
    .meta({ description: 'An earlier attempt of the same request had applied already; this one changed nothing.' }),
  mayBeReplayed: z.exactOptional(only(true)).meta({
    description: 'The predicate matched, or an earlier attempt had decided the request: the answer cannot say which.',
  }),
}).transform((document): RowResult => ({
  correlationId: document.correlationId,
  table: document.table,
  rowKey: document.rowKey,
  outcome: document.outcome,
  ...(document.replayed && { replayed: true }),
  ...(document.mayBeReplayed && { mayBeReplayed: true }),
}));

/** The result as JSON reads it back. */
export const resultJson = (result: RowResult): object => ({
  version: VERSION,
  correlationId: result.correlationId,
  table: formatTableName(result.table),
  rowKey: bytesJson(result.rowKey),
  outcome: outcomeJson(result.outcome),
  ...(result.replayed && { replayed: true }),
  ...(result.mayBeReplayed && { mayBeReplayed: true }),
});

const outcomeJson = ({ kind, ...members }: RowResultOutcome): object => ({
  [kind]: 'cells' in members ? { ...members, cells: members.cells.map(cellJson) } : members,
});

const cellJson = ({ family, qualifier, timestampMicros, value, labels, isCounter }: ResultCell): object => ({
  family,
  qualifier: bytesJson(qualifier),
  timestampMicros: String(timestampMicros),
  value: isCounter && value.length === 8 ? int64Json(value) : bytesJson(value),
  ...(labels.length > 0 && { labels }),
});
