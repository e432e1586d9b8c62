import { toWireMutation } from '../mapping/entry-wire.ts';
import { encodeWith } from '../mapping/wire-writer.ts';
import type { ReadModifyWriteRule } from '../model/conditional.ts';
import type { ChangedCell, RowAnswer } from '../model/row-answer.ts';
import type { RowCall } from '../model/row-call.ts';
import type { RowRequest } from '../model/row-request.ts';
import { type TableName, tablePath } from '../model/table-name.ts';
import {
  CheckAndMutateRowRequest,
  CheckAndMutateRowResponse,
  ReadModifyWriteRowRequest,
  ReadModifyWriteRowResponse,
} from '../proto/google/bigtable/v2/bigtable.ts';
import type { ReadModifyWriteRule as WireRule, Row } from '../proto/google/bigtable/v2/data.ts';
import { toWireFilter } from './filter-wire.ts';

/**
 * Row requests as `google.bigtable.v2.CheckAndMutateRowRequest` and `ReadModifyWriteRowRequest`, and their answers. A
 * request knows neither table nor profile: they are given when it is encoded. Pure.
 */

/** The RPC that carries each kind of request. */
export const METHODS: Readonly<Record<RowRequest['kind'], RowCall['method']>> = {
  conditional: 'CheckAndMutateRow',
  readModifyWrite: 'ReadModifyWriteRow',
};

/** The request's bytes for this table. An empty profile is the instance's default one. */
export function encodeRowRequest(table: TableName, appProfileId: string, request: RowRequest): Buffer {
  const address = { tableName: tablePath(table), authorizedViewName: '', appProfileId };
  return encodeWith((writer) =>
    request.kind === 'conditional'
      ? CheckAndMutateRowRequest.encode({ ...address, ...toWireConditional(request.request) }, writer)
      : ReadModifyWriteRowRequest.encode({ ...address, ...toWireReadModifyWrite(request.request) }, writer),
  );
}

/** The service's answer to a request of this kind. Throws when the bytes are no response of its RPC. */
export function decodeRowAnswer(kind: RowRequest['kind'], answer: Buffer): RowAnswer {
  switch (kind) {
    case 'conditional':
      return { kind, predicateMatched: CheckAndMutateRowResponse.decode(answer).predicateMatched };
    case 'readModifyWrite':
      return { kind, cells: cellsOf(ReadModifyWriteRowResponse.decode(answer).row) };
    default:
      return kind satisfies never;
  }
}

type RequestOf<Kind extends RowRequest['kind']> = Extract<RowRequest, { kind: Kind }>['request'];

/** What the wire request holds of a conditional one. An absent predicate is unset: does the row hold any cell? */
export const toWireConditional = ({ rowKey, predicate, then, otherwise }: RequestOf<'conditional'>) => ({
  rowKey,
  predicateFilter: predicate && toWireFilter(predicate),
  trueMutations: then.map(toWireMutation),
  falseMutations: otherwise.map(toWireMutation),
});

/** What the wire request holds of a read-modify-write one. */
export const toWireReadModifyWrite = ({ rowKey, rules }: RequestOf<'readModifyWrite'>) => ({
  rowKey,
  rules: rules.map(toWireRule),
});

const toWireRule = (rule: ReadModifyWriteRule): WireRule => ({
  familyName: rule.family,
  columnQualifier: rule.qualifier,
  rule:
    rule.kind === 'append'
      ? { $case: 'appendValue', value: rule.value }
      : { $case: 'incrementAmount', value: rule.amount },
});

/** The cells of a row, in the order that the row has them. */
export const cellsOf = (row: Row | undefined): ChangedCell[] =>
  (row?.families ?? []).flatMap(({ name, columns }) =>
    columns.flatMap(({ qualifier, cells }) => cells.map((cell) => ({ family: name, qualifier, ...cell }))),
  );
