import type { ConnectTableCalls, TableCalls } from '../../bulk/ports.ts';
import { tablePath } from '../../model/table-name.ts';
import {
  CreateTableRequest,
  GetTableRequest,
  ModifyColumnFamiliesRequest,
} from '../../proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { Table, Table_View } from '../../proto/google/bigtable/admin/v2/table.ts';
import type { ChannelSet } from '../grpc/channel.ts';
import { type AdminCall, adminConnections, callAdmin } from './admin-calls.ts';
import { instancePath } from './call.ts';
import type { BigtableAccess } from './services.ts';
import { typeOfFamily, wireFamily } from './families.ts';

const SERVICE = 'BigtableTableAdmin';

/**
 * The table admin API over a raw gRPC channel; nothing is retried here. Imported where a table is first missed: a sink
 * that never creates one never loads it.
 */
export function openTableCalls(access: BigtableAccess): ConnectTableCalls {
  const connected = adminConnections(access);
  return (signal, use) => connected(signal, (channels) => use(callsOver(channels)));
}

function callsOver(channels: ChannelSet): TableCalls {
  const unary = (
    call: Omit<AdminCall, 'service'>,
    expected: 'ALREADY_EXISTS' | 'NOT_FOUND',
  ): Promise<Buffer | undefined> => callAdmin(channels, { service: SERVICE, ...call }, expected);
  return {
    async create(table, { families }, signal) {
      const parent = instancePath(table);
      const columnFamilies = Object.fromEntries(
        Object.entries(families).map(([name, family]) => [name, wireFamily(family)]),
      );
      const request = CreateTableRequest.encode({
        parent,
        tableId: table.table,
        table: { ...Table.decode(Buffer.alloc(0)), columnFamilies },
        initialSplits: [],
      });
      const call = { method: 'CreateTable', table, request: request.finish(), routing: { parent }, signal };
      return (await unary(call, 'ALREADY_EXISTS')) !== undefined;
    },
    async read(table, signal) {
      const name = tablePath(table);
      const request = GetTableRequest.encode({ name, view: Table_View.SCHEMA_VIEW });
      const call = { method: 'GetTable', table, request: request.finish(), routing: { name }, signal };
      const answer = await unary(call, 'NOT_FOUND');
      if (!answer) return undefined;
      const { columnFamilies } = Table.decode(answer);
      return new Map(Object.entries(columnFamilies).map(([id, family]) => [id, typeOfFamily(family)]));
    },
    async addFamilies(table, families, signal) {
      const name = tablePath(table);
      const modifications = Object.entries(families).map(([id, family]) => ({
        id,
        mod: { $case: 'create' as const, value: wireFamily(family) },
        updateMask: undefined,
      }));
      const request = ModifyColumnFamiliesRequest.encode({ name, modifications, ignoreWarnings: false });
      const call = { method: 'ModifyColumnFamilies', table, request: request.finish(), routing: { name }, signal };
      return (await unary(call, 'ALREADY_EXISTS')) !== undefined;
    },
  };
}
