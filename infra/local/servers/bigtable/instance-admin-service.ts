import { GrpcError } from '../rpc/grpc.ts';
import type { BigtableInstanceAdminDefinition } from '../../../../shared/proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import type { AppProfile } from '../../../../shared/proto/google/bigtable/admin/v2/instance.ts';
import { unary, type CallContext } from './calls.ts';
import type { Database } from './database.ts';
import { requireProfile } from './profiles.ts';
import { type HandlersOf } from '../rpc/definition.ts';

/** The RPCs of `google.bigtable.admin.v2.BigtableInstanceAdmin` that are served; the others are UNIMPLEMENTED. */
export type InstanceAdminService = Pick<HandlersOf<BigtableInstanceAdminDefinition>, 'getAppProfile'>;

const PROFILE_NAME = /^projects\/[^/]+\/instances\/[^/]+\/appProfiles\/([-_.a-zA-Z0-9]+)$/;

export function instanceAdminService({ profiles }: Database, context: CallContext): InstanceAdminService {
  return {
    getAppProfile: unary(context, 'GetAppProfile', ({ name }): AppProfile => {
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
    }),
  };
}

/** There is one cluster, whatever a profile says of its routing. */
const CLUSTER = 'local';
