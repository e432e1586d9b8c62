import { Client, Metadata, status as grpcStatus, type ServiceError } from '@grpc/grpc-js';
import { abortable } from '../../base/abortable.ts';
import { lazy } from '../../base/lazy.ts';
import { createTableAdmin } from '../../bulk/ensure-table.ts';
import type { TableAdmin, TableCalls } from '../../bulk/ports.ts';
import { TableAdminError } from '../../bulk/table-errors.ts';
import type { ResolvedFamily, ResolvedGcRule } from '../../config/resolved.ts';
import { statusName } from '../../model/status.ts';
import { tablePath, type TableName } from '../../model/table-name.ts';
import {
  CreateTableRequest,
  GetTableRequest,
  ModifyColumnFamiliesRequest,
} from '../../proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { type ColumnFamily, type GcRule, Table, Table_View } from '../../proto/google/bigtable/admin/v2/table.ts';
import { ADMIN_SERVICE, type BigtableAccess, openAccess } from './credentials.ts';
import { typeOfFamily, wireType } from './family-types.ts';

const SERVICE = '/google.bigtable.admin.v2.BigtableTableAdmin';

/**
 * The table admin API over a raw gRPC channel; nothing is retried here. Imported where a table is first missed: a sink
 * that never creates one never loads it. A connection lives as long as one use of it, because there is hardly ever
 * another and a frozen instance would thaw into a dead one.
 */
export function openTableAdmin(access: BigtableAccess): TableAdmin {
  const opened = lazy(() => openAccess(access, ADMIN_SERVICE));
  const connected = async <Result>(
    signal: AbortSignal,
    use: (admin: TableAdmin) => Promise<Result>,
  ): Promise<Result> => {
    const { address, credentials } = await abortable(opened(), signal);
    const client = new Client(address, credentials, { 'grpc.service_config_disable_resolution': 1 });
    try {
      return await use(createTableAdmin(callsOver(client)));
    } finally {
      client.close();
    }
  };
  return {
    ensure: (table, options, signal) => connected(signal, (admin) => admin.ensure(table, options, signal)),
    checkTypes: (table, options, signal) => connected(signal, (admin) => admin.checkTypes(table, options, signal)),
  };
}

function callsOver(client: Client): TableCalls {
  return {
    async create(table, { families }, signal) {
      const parent = `projects/${table.project}/instances/${table.instance}`;
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
      return (await unary(client, call, 'ALREADY_EXISTS')) !== undefined;
    },
    async read(table, signal) {
      const name = tablePath(table);
      const request = GetTableRequest.encode({ name, view: Table_View.SCHEMA_VIEW });
      const call = { method: 'GetTable', table, request: request.finish(), routing: { name }, signal };
      const answer = await unary(client, call, 'NOT_FOUND');
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
      return (await unary(client, call, 'ALREADY_EXISTS')) !== undefined;
    },
  };
}

interface UnaryCall {
  readonly method: string;
  readonly table: TableName;
  readonly request: Uint8Array;
  /** Names the resource in the header by which the service routes the call. */
  readonly routing: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** One call, sent once: its answer, undefined for the one status that is expected, or a {@link TableAdminError}. */
function unary(
  client: Client,
  { method, table, request, routing, signal }: UnaryCall,
  expected: 'ALREADY_EXISTS' | 'NOT_FOUND',
): Promise<Buffer | undefined> {
  const metadata = new Metadata();
  metadata.set('x-goog-request-params', new URLSearchParams(routing).toString());
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new TableAdminError(method, table, { code: 'CANCELLED', message: 'no time was left for it' }));
      return;
    }
    const done = (error: ServiceError | null, answer?: Buffer): void => {
      signal.removeEventListener('abort', cancel);
      if (!error) resolve(answer);
      else if (error.code === grpcStatus[expected]) resolve(undefined);
      else reject(new TableAdminError(method, table, { code: statusName(error.code), message: error.details }));
    };
    const path = `${SERVICE}/${method}`;
    const call = client.makeUnaryRequest(path, asBuffer, asIs, request, metadata, done);
    const cancel = (): void => {
      call.cancel();
    };
    signal.addEventListener('abort', cancel, { once: true });
  });
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asIs = (bytes: Buffer): Buffer => bytes;

const wireFamily = ({ type, gcRule }: ResolvedFamily): ColumnFamily => ({
  gcRule: gcRule && wireGcRule(gcRule),
  valueType: wireType(type),
});

function wireGcRule(rule: ResolvedGcRule): GcRule {
  switch (rule.kind) {
    case 'max-versions':
      return { rule: { $case: 'maxNumVersions', value: rule.maxVersions } };
    case 'max-age': {
      const millis = rule.maxAgeMillis % 1000;
      const value = { seconds: BigInt((rule.maxAgeMillis - millis) / 1000), nanos: millis * 1_000_000 };
      return { rule: { $case: 'maxAge', value } };
    }
    case 'union':
    case 'intersection':
      return { rule: { $case: rule.kind, value: { rules: rule.rules.map(wireGcRule) } } };
    default:
      return rule satisfies never;
  }
}
