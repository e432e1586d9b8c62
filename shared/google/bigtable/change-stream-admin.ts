import type { ChangeStreamAdmin, RoutingReading, StreamReading } from '../../change-stream/reading/ports.ts';
import { TableAdminError } from '../../model/table-admin-error.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';
import { GetAppProfileRequest } from '../../proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import { GetTableRequest } from '../../proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { AppProfile } from '../../proto/google/bigtable/admin/v2/instance.ts';
import { Table, Table_View } from '../../proto/google/bigtable/admin/v2/table.ts';
import type { ChannelSet } from '../grpc/channel.ts';
import { adminConnections, callAdmin } from './admin-calls.ts';
import { appProfilePath } from './call.ts';
import type { BigtableAccess } from './services.ts';

/** What a change stream stands on, from the admin APIs over a raw gRPC channel. Nothing is retried here. */
export function openChangeStreamAdmin(access: BigtableAccess): ChangeStreamAdmin {
  const connected = adminConnections(access);
  const isEmulator = access.emulatorEndpoint !== undefined;
  return {
    readStream: (table, signal) =>
      connected(signal, (channels) => readStream(channels, table, signal)).catch(deniedOrThrown),
    readRouting: (table, appProfileId, signal) =>
      connected(signal, (channels) => readRouting(channels, table, appProfileId, signal)).catch((error: unknown) => {
        // Google's emulator has no instances to administer.
        const isLeftOut = error instanceof TableAdminError && error.status.code === 'UNIMPLEMENTED';
        return isEmulator && isLeftOut ? { kind: 'unknown' } : deniedOrThrown(error);
      }),
  };
}

/** That we may not ask says nothing of the answer. */
function deniedOrThrown(error: unknown): { readonly kind: 'denied'; readonly problem: string } {
  if (error instanceof TableAdminError && error.status.code === 'PERMISSION_DENIED') {
    return { kind: 'denied', problem: error.message };
  }
  throw error;
}

async function readStream(channels: ChannelSet, table: TableName, signal: AbortSignal): Promise<StreamReading> {
  const name = tablePath(table);
  const request = GetTableRequest.encode({ name, view: Table_View.SCHEMA_VIEW }).finish();
  const routing = { name };
  const call = { service: 'BigtableTableAdmin', method: 'GetTable', table, request, routing, signal } as const;
  const answer = await callAdmin(channels, call, 'NOT_FOUND');
  if (!answer) return { kind: 'missing' };
  const retention = Table.decode(answer).changeStreamConfig?.retentionPeriod;
  if (!retention) return { kind: 'off' };
  return { kind: 'on', retentionMillis: Number(retention.seconds) * 1000 + Math.floor(retention.nanos / 1_000_000) };
}

async function readRouting(
  channels: ChannelSet,
  table: TableName,
  appProfileId: string,
  signal: AbortSignal,
): Promise<RoutingReading> {
  const name = appProfilePath(table, appProfileId);
  const request = GetAppProfileRequest.encode({ name }).finish();
  const routing = { name };
  const call = { service: 'BigtableInstanceAdmin', method: 'GetAppProfile', table, request, routing, signal } as const;
  const answer = await callAdmin(channels, call, 'NOT_FOUND');
  if (!answer) return { kind: 'missing' };
  const { routingPolicy } = AppProfile.decode(answer);
  switch (routingPolicy?.$case) {
    case 'singleClusterRouting':
      return { kind: 'single-cluster', cluster: routingPolicy.value.clusterId };
    case 'multiClusterRoutingUseAny':
      return { kind: 'multi-cluster' };
    case undefined:
      return { kind: 'unknown' };
  }
}
