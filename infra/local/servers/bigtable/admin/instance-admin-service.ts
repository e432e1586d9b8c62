import {
  BigtableInstanceAdminDefinition,
  type UpdateAppProfileRequest,
} from '../../../../../shared/proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import { AppProfile } from '../../../../../shared/proto/google/bigtable/admin/v2/instance.ts';
import type { Operation } from '../../../../../shared/proto/google/longrunning/operations.ts';
import { serve, type CallContext } from '../../rpc/calls.ts';
import { GrpcError, type Service } from '../../rpc/grpc.ts';
import type { Database } from '../database.ts';
import type { BigtableCalls } from '../faults.ts';
import type { AppProfiles, Routing } from '../profiles.ts';

/** The RPCs of `google.bigtable.admin.v2.BigtableInstanceAdmin` that are served. */
export function instanceAdminService({ profiles }: Database, context: CallContext<BigtableCalls>): Service {
  return serve(BigtableInstanceAdminDefinition, context, {
    getAppProfile: ({ name }) => {
      const { instance, id } = parseName(name);
      return profileMessage(name, profiles.require(instance, id));
    },
    updateAppProfile: (request) => updateAppProfile(profiles, request),
  });
}

const PROFILE_NAME = /^(projects\/[^/]+\/instances\/[^/]+)\/appProfiles\/([-_.a-zA-Z0-9]+)$/;

function parseName(name: string): { readonly instance: string; readonly id: string } {
  const [, instance, id] = PROFILE_NAME.exec(name) ?? [];
  if (instance === undefined || id === undefined) {
    throw new GrpcError('INVALID_ARGUMENT', `Invalid app profile name: '${name}'`);
  }
  return { instance, id };
}

const profileMessage = (name: string, { singleCluster, transactional, cluster }: Routing): AppProfile => ({
  name,
  etag: '',
  description: '',
  routingPolicy: singleCluster
    ? { $case: 'singleClusterRouting', value: { clusterId: cluster, allowTransactionalWrites: transactional } }
    : { $case: 'multiClusterRoutingUseAny', value: { clusterIds: [], affinity: undefined } },
  isolation: undefined,
});

/** Fields of a profile that are kept here; the service has more. */
const KEPT = new Set(['single_cluster_routing', 'multi_cluster_routing_use_any']);

/**
 * Where a profile routes from now on, which is how somebody fails over by hand. It holds as soon as it is answered. Nobody
 * is warned: each update is one with `ignore_warnings`.
 */
function updateAppProfile(profiles: AppProfiles, { appProfile, updateMask }: UpdateAppProfileRequest): Operation {
  const name = appProfile?.name ?? '';
  const { instance, id } = parseName(name);
  for (const path of updateMask ?? []) {
    if (!KEPT.has(path.split('.')[0] ?? '')) {
      throw new GrpcError('INVALID_ARGUMENT', `update_mask names '${path}', which cannot be updated`);
    }
  }
  profiles.update(instance, id, routingOf(appProfile, profiles.require(instance, id)));
  const message = profileMessage(name, profiles.require(instance, id));
  const value = Buffer.from(AppProfile.encode(message).finish());
  return {
    name: `operations/${name}/update`,
    metadata: undefined,
    done: true,
    result: { $case: 'response', value: { typeUrl: 'type.googleapis.com/google.bigtable.admin.v2.AppProfile', value } },
  };
}

/** @param before of routing to any cluster, where requests go as before. */
function routingOf(profile: AppProfile | undefined, before: Routing): Routing {
  const policy = profile?.routingPolicy;
  switch (policy?.$case) {
    case 'singleClusterRouting': {
      const { clusterId, allowTransactionalWrites } = policy.value;
      return { singleCluster: true, transactional: allowTransactionalWrites, cluster: clusterId };
    }
    case 'multiClusterRoutingUseAny':
      return { singleCluster: false, transactional: false, cluster: policy.value.clusterIds[0] ?? before.cluster };
    case undefined:
      throw new GrpcError('INVALID_ARGUMENT', 'routing_policy must be set');
  }
}
