import type { GetAppProfileRequest } from '../../../../shared/proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import type {
  CreateTableRequest,
  CheckConsistencyRequest,
  DeleteTableRequest,
  DropRowRangeRequest,
  GenerateConsistencyTokenRequest,
  GetTableRequest,
  ListTablesRequest,
  ModifyColumnFamiliesRequest,
  UpdateTableRequest,
} from '../../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import type {
  CheckAndMutateRowRequest,
  MutateRowRequest,
  MutateRowsRequest,
  PingAndWarmRequest,
  ReadModifyWriteRowRequest,
  ReadRowsRequest,
  SampleRowKeysRequest,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';

/** The RPCs that the local Bigtable serves, by their names in the protos, with their requests. */
export interface RpcRequests {
  ReadRows: ReadRowsRequest;
  SampleRowKeys: SampleRowKeysRequest;
  MutateRow: MutateRowRequest;
  MutateRows: MutateRowsRequest;
  CheckAndMutateRow: CheckAndMutateRowRequest;
  ReadModifyWriteRow: ReadModifyWriteRowRequest;
  PingAndWarm: PingAndWarmRequest;
  CreateTable: CreateTableRequest;
  GetTable: GetTableRequest;
  ListTables: ListTablesRequest;
  UpdateTable: UpdateTableRequest;
  DeleteTable: DeleteTableRequest;
  ModifyColumnFamilies: ModifyColumnFamiliesRequest;
  DropRowRange: DropRowRangeRequest;
  GenerateConsistencyToken: GenerateConsistencyTokenRequest;
  CheckConsistency: CheckConsistencyRequest;
  GetAppProfile: GetAppProfileRequest;
}

export type RpcMethod = keyof RpcRequests;

export type RequestOf<Method extends RpcMethod> = RpcRequests[Method];

/** The full name of the table that a request is about; empty for one about an instance. */
export function requestedTable(method: RpcMethod, request: RpcRequests[RpcMethod]): string {
  if (method === 'PingAndWarm' || method === 'GetAppProfile') return '';
  if ('tableName' in request) return request.tableName;
  if ('tableId' in request) return `${request.parent}/tables/${request.tableId}`;
  if ('table' in request) return request.table?.name ?? '';
  return 'name' in request ? request.name : '';
}

/** The row keys that a request writes. A scan names none. */
export function requestedRowKeys(request: RpcRequests[RpcMethod]): readonly Buffer[] {
  if ('entries' in request) return request.entries.map(({ rowKey }) => rowKey);
  return 'rowKey' in request ? [request.rowKey] : [];
}
