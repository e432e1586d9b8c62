import { toWireMutation } from '../mapping/rows/entry-wire.ts';
import { encodeWith } from '../mapping/rows/wire-writer.ts';
import type { ReadModifyWriteRule } from '../model/conditional.ts';
import type { ChangedCell, RowAnswer } from '../model/row-result.ts';
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
import { toWireFilter } from '../forms/filter-wire.ts';

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
  return encodeWith((writer) => {
    writer.raw(addressOf(request.kind, table, appProfileId));
    return request.kind === 'conditional'
      ? CheckAndMutateRowRequest.encode({ ...NOWHERE, ...toWireConditional(request.request) }, writer)
      : ReadModifyWriteRowRequest.encode({ ...NOWHERE, ...toWireReadModifyWrite(request.request) }, writer);
  });
}

const NOWHERE = { tableName: '', authorizedViewName: '', appProfileId: '' };

interface Address {
  readonly kind: RowRequest['kind'];
  readonly table: TableName;
  readonly appProfileId: string;
  readonly bytes: Buffer;
}

/** Nearly every request goes where the one before it went: its address is encoded once. */
let last: Address | undefined;

/** The fields of a request that say where it goes. A message may be written in parts, whatever the order of its fields. */
function addressOf(kind: RowRequest['kind'], table: TableName, appProfileId: string): Buffer {
  if (last?.kind !== kind || last.table !== table || last.appProfileId !== appProfileId) {
    const address = { tableName: tablePath(table), authorizedViewName: '', appProfileId, rowKey: NO_BYTES };
    const bytes =
      kind === 'conditional'
        ? CheckAndMutateRowRequest.encode({
            ...address,
            trueMutations: [],
            falseMutations: [],
            predicateFilter: undefined,
          })
        : ReadModifyWriteRowRequest.encode({ ...address, rules: [] });
    last = { kind, table, appProfileId, bytes: Buffer.from(bytes.finish()) };
  }
  return last.bytes;
}

const NO_BYTES = Buffer.alloc(0);

/** The service's answer to a request of this kind. Throws when the bytes are no response of its RPC. */
export function decodeRowAnswer(kind: RowRequest['kind'], answer: Buffer): RowAnswer {
  switch (kind) {
    case 'conditional':
      // A message without fields, which half of the answers are: nothing matched.
      return {
        kind,
        predicateMatched: answer.length > 0 && CheckAndMutateRowResponse.decode(answer).predicateMatched,
      };
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
