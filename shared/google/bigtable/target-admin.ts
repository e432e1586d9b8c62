import { TableAdminError } from '../../model/table-admin-error.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';
import { GetAppProfileRequest } from '../../proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import { GetTableRequest } from '../../proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { AppProfile } from '../../proto/google/bigtable/admin/v2/instance.ts';
import { Table, Table_View } from '../../proto/google/bigtable/admin/v2/table.ts';
import { STATUSES } from '../../model/status.ts';
import { type ProfileReading, type TargetAdmin, TargetRefusedError } from '../../markers/ports.ts';
import type { ChannelSet } from '../grpc/channel.ts';
import { adminConnections, callAdmin } from './admin-calls.ts';
import { appProfilePath } from './call.ts';
import type { BigtableAccess } from './services.ts';
import { keptMillis, typeOfFamily } from './families.ts';

/** What a target is, from the admin APIs over a raw gRPC channel. Imported at the first check; nothing is retried here. */
export function openTargetAdmin(access: BigtableAccess): TargetAdmin {
  const connected = adminConnections(access);
  const isEmulator = access.emulatorEndpoint !== undefined;
  return {
    readProfile: (table, appProfileId, signal) =>
      connected(signal, (channels) => readProfile(channels, table, appProfileId, signal)).catch((error: unknown) => {
        // Google's emulator has no instances to administer. The service has, so there it would be a refusal.
        const isUnknown = error instanceof TableAdminError && error.status.code === 'UNIMPLEMENTED';
        if (isEmulator && isUnknown) return { kind: 'unchecked' };
        throw refusalOf(error);
      }),
    readFamilies: (table, signal) =>
      connected(signal, async (channels) => {
        const name = tablePath(table);
        const request = GetTableRequest.encode({ name, view: Table_View.SCHEMA_VIEW }).finish();
        const call = {
          service: 'BigtableTableAdmin',
          method: 'GetTable',
          table,
          request,
          routing: { name },
          signal,
        } as const;
        const answer = await callAdmin(channels, call, 'NOT_FOUND');
        if (!answer) return undefined;
        const families = Object.entries(Table.decode(answer).columnFamilies);
        return new Map(
          families.map(([id, family]) => [id, { type: typeOfFamily(family), keptMillis: keptMillis(family.gcRule) }]),
        );
      }).catch((error: unknown) => {
        throw refusalOf(error);
      }),
  };
}

/** What does not pass by itself is told from what does. */
const refusalOf = (error: unknown): unknown =>
  error instanceof TableAdminError && STATUSES[error.status.code].passes === 'no'
    ? new TargetRefusedError(error.message, { cause: error })
    : error;

async function readProfile(
  channels: ChannelSet,
  table: TableName,
  appProfileId: string,
  signal: AbortSignal,
): Promise<ProfileReading> {
  const name = appProfilePath(table, appProfileId);
  const request = GetAppProfileRequest.encode({ name }).finish();
  const routing = { name };
  const call = { service: 'BigtableInstanceAdmin', method: 'GetAppProfile', table, request, routing, signal } as const;
  const answer = await callAdmin(channels, call, 'NOT_FOUND');
  if (!answer) return { kind: 'missing' };
  const { routingPolicy } = AppProfile.decode(answer);
  if (routingPolicy?.$case !== 'singleClusterRouting' || routingPolicy.value.clusterId === '') {
    return { kind: 'found', isSingleCluster: false, isTransactional: false };
  }
  const { clusterId, allowTransactionalWrites } = routingPolicy.value;
  return { kind: 'found', isSingleCluster: true, isTransactional: allowTransactionalWrites, cluster: clusterId };
}
