import { once } from 'node:events';
import { Metadata, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js';
import {
  BigtableTableAdminDefinition,
  type CreateTableRequest,
} from '../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { BigtableInstanceAdminDefinition } from '../../shared/proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import { AppProfile } from '../../shared/proto/google/bigtable/admin/v2/instance.ts';
import { Table, type ColumnFamily } from '../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { Type } from '../../shared/proto/google/bigtable/admin/v2/types.ts';
import {
  BigtableDefinition,
  type MutateRowsRequest_Entry,
  type MutateRowsResponse,
  ReadRowsRequest,
  CheckAndMutateRowRequest,
  MutateRowRequest,
  ReadModifyWriteRowRequest,
  type ReadRowsResponse,
} from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Mutation, ReadModifyWriteRule, RowFilter, Value } from '../../shared/proto/google/bigtable/v2/data.ts';
import { blank, unary } from '../../infra/local/cloud/unary.ts';
import { statusName } from '../../shared/model/status.ts';
import { connectTo, type ClientOf } from '../../infra/local/servers/rpc/client.ts';

export const INSTANCE = 'projects/p/instances/i';

/** The generated clients of one server. */
export interface RawClient {
  readonly data: ClientOf<BigtableDefinition>;
  readonly admin: ClientOf<BigtableTableAdminDefinition>;
  readonly instance: ClientOf<BigtableInstanceAdminDefinition>;
  close(): void;
}

export function connect(address: string): RawClient {
  const options = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
  const data = connectTo(BigtableDefinition, address, options);
  const admin = connectTo(BigtableTableAdminDefinition, address, options);
  const instance = connectTo(BigtableInstanceAdminDefinition, address, options);
  return {
    data,
    admin,
    instance,
    close: () => {
      data.close();
      admin.close();
      instance.close();
    },
  };
}

/** Every message of a stream; rejects with its status. */
export async function messages<Response>(stream: ClientReadableStream<Response>): Promise<Response[]> {
  const received: Response[] = [];
  for await (const message of stream) received.push(message as Response);
  return received;
}

/** `NAME: message` of the status that the promise rejected with; `OK` when it did not. */
export const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'OK',
    (error: unknown) => {
      const { code, details } = error as ServiceError;
      return `${statusName(code)}: ${details}`;
    },
  );

/** The name alone: where only the status is promised. */
export const code = async (promise: Promise<unknown>): Promise<string> => (await outcome(promise)).split(':')[0] ?? '';

/** Creates `projects/p/instances/i/tables/{id}` and returns its name. */
export async function createTable(
  { admin }: RawClient,
  id: string,
  families: Readonly<Record<string, Partial<ColumnFamily>>>,
  splits: readonly string[] = [],
): Promise<string> {
  const columnFamilies = Object.fromEntries(
    Object.entries(families).map(([name, family]) => [name, { gcRule: undefined, valueType: undefined, ...family }]),
  );
  const request: CreateTableRequest = {
    parent: INSTANCE,
    tableId: id,
    table: { ...blank(Table), columnFamilies },
    initialSplits: splits.map((key) => ({ key: Buffer.from(key) })),
  };
  const { name } = await unary(admin.createTable.bind(admin), request);
  return name;
}

export const deleteTable = ({ admin }: RawClient, name: string): Promise<unknown> =>
  unary(admin.deleteTable.bind(admin), { name });

export const addFamily = (
  { admin }: RawClient,
  table: string,
  id: string,
  family: Partial<ColumnFamily> = {},
): Promise<Table> =>
  unary(admin.modifyColumnFamilies.bind(admin), {
    name: table,
    modifications: [
      {
        id,
        mod: { $case: 'create', value: { gcRule: undefined, valueType: undefined, ...family } },
        updateMask: undefined,
      },
    ],
    ignoreWarnings: false,
  });

/**
 * Fails a profile of the instance over by hand.
 *
 * @param cluster undefined: any cluster from now on.
 */
export const routeTo = (
  { instance }: RawClient,
  profile: string,
  cluster: string | undefined,
  { allowTransactionalWrites = true, updateMask }: { allowTransactionalWrites?: boolean; updateMask?: string[] } = {},
): Promise<unknown> =>
  unary(instance.updateAppProfile.bind(instance), {
    appProfile: {
      ...blank(AppProfile),
      name: `${INSTANCE}/appProfiles/${profile}`,
      routingPolicy:
        cluster === undefined
          ? { $case: 'multiClusterRoutingUseAny', value: { clusterIds: [], affinity: undefined } }
          : { $case: 'singleClusterRouting', value: { clusterId: cluster, allowTransactionalWrites } },
    },
    updateMask,
    ignoreWarnings: true,
  });

export const setCell = (
  family: string,
  qualifier: string | Buffer,
  value: string | Buffer,
  timestampMicros = 1000n,
): Mutation => ({
  mutation: {
    $case: 'setCell',
    value: { familyName: family, columnQualifier: Buffer.from(qualifier), timestampMicros, value: Buffer.from(value) },
  },
});

export const entry = (rowKey: string | Buffer, ...mutations: Mutation[]): MutateRowsRequest_Entry => ({
  rowKey: Buffer.from(rowKey),
  mutations,
  idempotency: undefined,
});

export interface CallOptions {
  readonly profile?: string;
  readonly metadata?: Metadata;
  readonly deadlineMillis?: number;
}

export const mutateRows = (
  { data }: RawClient,
  tableName: string,
  entries: MutateRowsRequest_Entry[],
  { profile = '', metadata = new Metadata(), deadlineMillis }: CallOptions = {},
): Promise<MutateRowsResponse[]> =>
  messages(
    data.mutateRows({ tableName, authorizedViewName: '', appProfileId: profile, entries }, metadata, {
      ...(deadlineMillis !== undefined && { deadline: Date.now() + deadlineMillis }),
    }),
  );

/** Index → status name of every answer, in the order of arrival. */
export const statuses = (responses: readonly MutateRowsResponse[]): [number, string][] =>
  responses.flatMap(({ entries }) =>
    entries.map(({ index, status }): [number, string] => [Number(index), status ? statusName(status.code) : 'none']),
  );

export const readRequest = (tableName: string, more: Partial<ReadRowsRequest> = {}): ReadRowsRequest => ({
  ...blank(ReadRowsRequest),
  tableName,
  ...more,
});

export interface ReadRow {
  readonly key: string;
  /** `family:qualifier@timestamp=value` with the labels after it, as latin1. */
  readonly cells: string[];
}

/** Assembles rows of chunks and checks the rules that the official reader checks. */
export function assemble(responses: readonly ReadRowsResponse[]): ReadRow[] {
  const rows: ReadRow[] = [];
  let row: ReadRow | undefined;
  let family = '';
  let qualifier = '';
  let head = '';
  let labels = '';
  let value: Buffer[] = [];
  let expected = 0;
  for (const chunk of responses.flatMap(({ chunks }) => chunks)) {
    const isCommit = chunk.rowStatus?.$case === 'commitRow' && chunk.rowStatus.value;
    if (!row) {
      if (chunk.rowKey.length === 0 || chunk.familyName === undefined || chunk.qualifier === undefined) {
        throw new Error('the first chunk of a row must name key, family and qualifier');
      }
      row = { key: chunk.rowKey.toString('latin1'), cells: [] };
    } else if (chunk.rowKey.length > 0 && chunk.rowKey.toString('latin1') !== row.key) {
      throw new Error('a row ended without a commit');
    }
    if (chunk.familyName !== undefined && chunk.qualifier === undefined)
      throw new Error('a family without a qualifier');
    if (value.length === 0) {
      family = chunk.familyName ?? family;
      qualifier = chunk.qualifier?.toString('latin1') ?? qualifier;
      head = `${family}:${qualifier}@${chunk.timestampMicros}`;
      labels = chunk.labels.map((label) => ` #${label}`).join('');
      expected = chunk.valueSize;
    } else if (chunk.qualifier !== undefined) {
      throw new Error('a new cell began before the value of the last was complete');
    }
    value.push(chunk.value);
    if (chunk.valueSize > 0) {
      if (isCommit) throw new Error('a row was committed inside a value');
      continue;
    }
    const whole = Buffer.concat(value);
    if (expected > 0 && whole.length !== expected)
      throw new Error(`a value of ${whole.length} bytes, announced as ${expected}`);
    row.cells.push(`${head}=${whole.toString('latin1')}${labels}`);
    value = [];
    if (isCommit) {
      rows.push(row);
      row = undefined;
    }
  }
  if (row) throw new Error('the stream ended inside a row');
  return rows;
}

export const readRows = async (
  { data }: RawClient,
  tableName: string,
  more: Partial<ReadRowsRequest> = {},
): Promise<ReadRow[]> => assemble(await messages(data.readRows(readRequest(tableName, more))));

export const withFilter = (filter: RowFilter['filter']): Partial<ReadRowsRequest> => ({ filter: { filter } });

/** Waits for the first message, then leaves the stream paused. */
export async function firstMessage<Response>(stream: ClientReadableStream<Response>): Promise<Response> {
  const [message] = (await once(stream, 'data')) as [Response];
  stream.pause();
  return message;
}

export const mutateRow = ({ data }: RawClient, more: Partial<MutateRowRequest>): Promise<unknown> =>
  unary(data.mutateRow.bind(data), { ...blank(MutateRowRequest), ...more });

export const checkAndMutate = async (
  { data }: RawClient,
  more: Partial<CheckAndMutateRowRequest>,
): Promise<boolean> => {
  const { predicateMatched } = await unary(data.checkAndMutateRow.bind(data), {
    ...blank(CheckAndMutateRowRequest),
    ...more,
  });
  return predicateMatched;
};

/** The changed cells as `family:qualifier=value`, the value as latin1. */
export const readModifyWrite = async (
  { data }: RawClient,
  more: Partial<ReadModifyWriteRowRequest>,
): Promise<string[]> => {
  const { row } = await unary(data.readModifyWriteRow.bind(data), { ...blank(ReadModifyWriteRowRequest), ...more });
  return (row?.families ?? []).flatMap(({ name, columns }) =>
    columns.flatMap(({ qualifier, cells }) =>
      cells.map(({ value }) => `${name}:${qualifier.toString('latin1')}=${value.toString('latin1')}`),
    ),
  );
};

export const append = (family: string, qualifier: string, value: string): ReadModifyWriteRule => ({
  familyName: family,
  columnQualifier: Buffer.from(qualifier),
  rule: { $case: 'appendValue', value: Buffer.from(value) },
});

export const increment = (family: string, qualifier: string, amount: bigint): ReadModifyWriteRule => ({
  familyName: family,
  columnQualifier: Buffer.from(qualifier),
  rule: { $case: 'incrementAmount', value: amount },
});

export const deleteColumn = (family: string, qualifier: string, start?: bigint, end?: bigint): Mutation => ({
  mutation: {
    $case: 'deleteFromColumn',
    value: {
      familyName: family,
      columnQualifier: Buffer.from(qualifier),
      timeRange:
        start === undefined && end === undefined
          ? undefined
          : { startTimestampMicros: start ?? 0n, endTimestampMicros: end ?? 0n },
    },
  },
});

export const deleteFamily = (family: string): Mutation => ({
  mutation: { $case: 'deleteFromFamily', value: { familyName: family } },
});

export const deleteRow: Mutation = { mutation: { $case: 'deleteFromRow', value: {} } };

/** An aggregate's input or state on the wire. */
export const aggregate = (
  operation: 'addToCell' | 'mergeToCell',
  family: string,
  input: Value['kind'],
  { qualifier = 'q', micros = 1000n }: { readonly qualifier?: string; readonly micros?: bigint } = {},
): Mutation => ({
  mutation: {
    $case: operation,
    value: {
      familyName: family,
      columnQualifier: { type: undefined, kind: { $case: 'rawValue', value: Buffer.from(qualifier) } },
      timestamp: { type: undefined, kind: { $case: 'rawTimestampMicros', value: micros } },
      input: { type: undefined, kind: input },
    },
  },
});

const INT64: Type = { kind: { $case: 'int64Type', value: { encoding: undefined } } };

/** A family of an aggregate over int64. */
export const aggregateFamily = (
  aggregator: 'sum' | 'min' | 'max' | 'hllppUniqueCount',
  inputType: Type = INT64,
): Partial<ColumnFamily> => ({
  valueType: {
    kind: {
      $case: 'aggregateType',
      value: { inputType, stateType: undefined, aggregator: { $case: aggregator, value: {} } },
    },
  },
});
