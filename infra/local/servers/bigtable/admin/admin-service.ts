import {
  BigtableTableAdminDefinition,
  type CreateTableRequest,
  type DropRowRangeRequest,
  type ListTablesRequest,
  type ListTablesResponse,
  type UpdateTableRequest,
} from '../../../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { Table, Table_View } from '../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { Operation } from '../../../../../shared/proto/google/longrunning/operations.ts';
import { serve, type CallContext } from '../../rpc/calls.ts';
import { GrpcError, type Service } from '../../rpc/grpc.ts';
import type { Database } from '../database.ts';
import type { BigtableCalls } from '../faults.ts';
import { type Clusters, StoredTable } from '../rows/table-store.ts';
import type { TableStreams } from '../streams.ts';
import { modifyFamilies, parseFamilies } from './column-families.ts';
import { tableMessage } from './table-message.ts';

/** The RPCs of `google.bigtable.admin.v2.BigtableTableAdmin` that are served. */
export function adminService(
  { tables, profiles, replication, streams }: Database,
  context: CallContext<BigtableCalls>,
): Service {
  const clusters: Clusters = { ids: profiles.clusters, replication };
  return serve(BigtableTableAdminDefinition, context, {
    createTable: (request) => {
      const table = newTable(request, clusters);
      tables.add(table);
      try {
        streams.configure(table, request.table?.changeStreamConfig);
      } catch (error) {
        tables.delete(table.name);
        throw error;
      }
      return tableMessage(table, Table_View.SCHEMA_VIEW);
    },
    getTable: ({ name, view }) =>
      tableMessage(tables.require(name), view === Table_View.VIEW_UNSPECIFIED ? Table_View.SCHEMA_VIEW : view),
    listTables: (request) => listTables(tables.list(request.parent), request),
    updateTable: (request) => updateTable(tables.require(request.table?.name ?? ''), request, streams),
    deleteTable: ({ name }) => {
      const table = tables.require(name);
      if (table.isDeletionProtected) {
        throw new GrpcError('FAILED_PRECONDITION', `Table is protected against deletion: ${name}`);
      }
      streams.drop(table);
      tables.delete(name);
      return {};
    },
    modifyColumnFamilies: ({ name, modifications }) => {
      const table = tables.require(name);
      table.changeFamilies(modifyFamilies(table.families, modifications, name));
      return tableMessage(table, Table_View.SCHEMA_VIEW);
    },
    dropRowRange: (request) => {
      dropRowRange(tables.require(request.name), request);
      return {};
    },
    generateConsistencyToken: ({ name }) => ({
      consistencyToken: `consistent:${tables.require(name).name}:${replication.sent}`,
    }),
    checkConsistency: ({ name, consistencyToken }) => {
      const [, table, sent] = TOKEN.exec(consistencyToken) ?? [];
      if (table !== tables.require(name).name) {
        throw new GrpcError('INVALID_ARGUMENT', `Consistency token is not one of ${name}`);
      }
      return { consistent: replication.arrived >= Number(sent) };
    },
  });
}

/** The table, and the changes that were made before: those of all tables, which travel in one order. */
const TOKEN = /^consistent:(.*):(\d+)$/;

const UPDATABLE = new Set(['deletion_protection', 'change_stream_config', 'change_stream_config.retention_period']);

const TABLE_ID = /^[-_.a-zA-Z0-9]{1,50}$/;
const INSTANCE = /^projects\/[^/]+\/instances\/[^/]+$/;

function newTable({ parent, tableId, table, initialSplits }: CreateTableRequest, clusters: Clusters): StoredTable {
  if (!INSTANCE.test(parent)) throw new GrpcError('INVALID_ARGUMENT', `Invalid instance name: '${parent}'`);
  if (!TABLE_ID.test(tableId)) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `Invalid id for collection tables : Should match ${TABLE_ID.source} but found '${tableId}'`,
    );
  }
  const families = parseFamilies(table?.columnFamilies ?? {});
  const splits = initialSplits.map(({ key }) => key);
  const made = new StoredTable(`${parent}/tables/${tableId}`, families, splits, clusters);
  made.isDeletionProtected = table?.deletionProtection ?? false;
  return made;
}

/** A page token is the name of the last table of the page before. */
function listTables(all: readonly StoredTable[], { view, pageSize, pageToken }: ListTablesRequest): ListTablesResponse {
  const rest = all.filter(({ name }) => name > pageToken);
  const page = pageSize > 0 ? rest.slice(0, pageSize) : rest;
  const shown = view === Table_View.VIEW_UNSPECIFIED ? Table_View.NAME_ONLY : view;
  return {
    tables: page.map((table) => tableMessage(table, shown)),
    nextPageToken: page.length < rest.length ? (page.at(-1)?.name ?? '') : '',
  };
}

/** Only what the masks name; the operation is done when it is answered. A request that is refused changes nothing. */
function updateTable(
  table: StoredTable,
  { table: update, updateMask }: UpdateTableRequest,
  streams: TableStreams,
): Operation {
  const paths = updateMask ?? [];
  if (paths.length === 0) throw new GrpcError('INVALID_ARGUMENT', 'update_mask must name at least one field');
  for (const path of paths) {
    if (!UPDATABLE.has(path)) {
      throw new GrpcError('INVALID_ARGUMENT', `update_mask names '${path}', which cannot be updated`);
    }
  }
  if (paths.some((path) => path.startsWith('change_stream_config')))
    streams.configure(table, update?.changeStreamConfig);
  if (paths.includes('deletion_protection')) table.isDeletionProtected = update?.deletionProtection ?? false;
  const value = Buffer.from(Table.encode(tableMessage(table, Table_View.SCHEMA_VIEW)).finish());
  return {
    name: `operations/${table.name}/update`,
    metadata: undefined,
    done: true,
    result: { $case: 'response', value: { typeUrl: 'type.googleapis.com/google.bigtable.admin.v2.Table', value } },
  };
}

function dropRowRange(table: StoredTable, { target }: DropRowRangeRequest): void {
  switch (target?.$case) {
    case 'rowKeyPrefix':
      if (target.value.length === 0) throw new GrpcError('INVALID_ARGUMENT', 'row_key_prefix must be non-empty');
      table.dropPrefix(target.value);
      return;
    case 'deleteAllDataFromTable':
      if (target.value) table.dropPrefix(Buffer.alloc(0));
      return;
    case undefined:
      throw new GrpcError('INVALID_ARGUMENT', 'DropRowRange needs row_key_prefix or delete_all_data_from_table');
  }
}
