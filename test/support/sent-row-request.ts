import { CheckAndMutateRowRequest, ReadModifyWriteRowRequest } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { RowRequest } from '../../shared/model/row-request.ts';
import type { TableName } from '../../shared/model/table-name.ts';
import { encodeRowRequest } from '../../shared/single-row/wire.ts';
import { checkAndMutate, readModifyWrite, type RawClient } from './bigtable-raw-client.ts';

/**
 * Sends a row request with the generated client: what goes over the wire is the connector's encoding of it. Resolves to
 * whether the predicate matched, or to the changed cells.
 */
export function sendRowRequest(client: RawClient, table: TableName, request: RowRequest): Promise<boolean | string[]> {
  const bytes = encodeRowRequest(table, '', request);
  return request.kind === 'conditional'
    ? checkAndMutate(client, CheckAndMutateRowRequest.decode(bytes))
    : readModifyWrite(client, ReadModifyWriteRowRequest.decode(bytes));
}
