import { BigtableInstanceAdminDefinition } from '../../../../../shared/proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import type { AppProfile } from '../../../../../shared/proto/google/bigtable/admin/v2/instance.ts';
import { serve, type CallContext } from '../../rpc/calls.ts';
import { GrpcError, type Service } from '../../rpc/grpc.ts';
import type { Database } from '../database.ts';
import type { BigtableCalls } from '../faults.ts';
import { requireProfile } from '../profiles.ts';

const PROFILE_NAME = /^projects\/[^/]+\/instances\/[^/]+\/appProfiles\/([-_.a-zA-Z0-9]+)$/;

/** The RPCs of `google.bigtable.admin.v2.BigtableInstanceAdmin` that are served. */
export function instanceAdminService({ profiles }: Database, context: CallContext<BigtableCalls>): Service {
  return serve(BigtableInstanceAdminDefinition, context, {
    getAppProfile: ({ name }): AppProfile => {
      const [, id] = PROFILE_NAME.exec(name) ?? [];
      if (id === undefined) throw new GrpcError('INVALID_ARGUMENT', `Invalid app profile name: '${name}'`);
      const { singleCluster, transactional } = requireProfile(profiles, id);
      return {
        name,
        etag: '',
        description: '',
        routingPolicy: singleCluster
          ? { $case: 'singleClusterRouting', value: { clusterId: CLUSTER, allowTransactionalWrites: transactional } }
          : { $case: 'multiClusterRoutingUseAny', value: { clusterIds: [], affinity: undefined } },
        isolation: undefined,
      };
    },
  });
}

/** There is one cluster, whatever a profile says of its routing. */
const CLUSTER = 'local';
