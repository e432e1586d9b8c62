import { SubscriberDefinition } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { serve, type CallContext } from '../../rpc/calls.ts';
import { GrpcError, type Service } from '../../rpc/grpc.ts';
import { microsOfTimestamp } from '../../rpc/proto-time.ts';
import type { PubSubCalls } from '../faults.ts';
import type { Subscriptions } from '../resources/subscriptions.ts';
import type { Timing } from '../timing.ts';
import { refuseStale } from './exactly-once.ts';
import { leaseMillis } from './leases.ts';
import { pull } from './pull.ts';
import { streamingPull } from './streaming-pull.ts';

/** google.pubsub.v1.Subscriber over the server's subscriptions. */
export function subscriberService(
  subscriptions: Subscriptions,
  timing: Timing,
  context: CallContext<PubSubCalls>,
): Service {
  return serve(SubscriberDefinition, context, {
    createSubscription: (subscription) => subscriptions.create(subscription),
    getSubscription: ({ subscription }) => subscriptions.find(subscription).resource,
    updateSubscription: ({ subscription, updateMask }) => subscriptions.update(subscription, updateMask),
    listSubscriptions: ({ project, pageSize, pageToken }) => {
      const { items, nextPageToken } = subscriptions.list(project, pageSize, pageToken);
      return { subscriptions: items, nextPageToken };
    },
    deleteSubscription: ({ subscription }) => {
      subscriptions.delete(subscription);
      return {};
    },
    modifyPushConfig: ({ subscription, pushConfig }) => {
      subscriptions.modifyPushConfig(subscription, pushConfig);
      return {};
    },
    seek: ({ subscription, target }) => {
      const found = subscriptions.find(subscription);
      if (target?.$case !== 'time') throw new GrpcError('UNIMPLEMENTED', NO_SNAPSHOTS);
      found.seek(microsOfTimestamp(target.value));
      return {};
    },
    pull: (request, { signal }) => pull(subscriptions.find(request.subscription), request, timing, signal),
    streamingPull: streamingPull(subscriptions, timing, context),
    acknowledge: ({ subscription, ackIds }) => {
      const found = subscriptions.find(subscription);
      refuseStale(found.acknowledge(ackIds), found.settings.isExactlyOnce);
      return {};
    },
    modifyAckDeadline: ({ subscription, ackIds, ackDeadlineSeconds }) => {
      const found = subscriptions.find(subscription);
      const millis = leaseMillis(ackDeadlineSeconds, timing);
      refuseStale(found.modifyDeadline(ackIds, millis), found.settings.isExactlyOnce);
      return {};
    },
  });
}

const NO_SNAPSHOTS = 'this local server has no snapshots; seek to a time instead';

/** RPCs that are refused, and why. */
export const UNSERVED_SUBSCRIBER = {
  GetSnapshot: NO_SNAPSHOTS,
  ListSnapshots: NO_SNAPSHOTS,
  CreateSnapshot: NO_SNAPSHOTS,
  UpdateSnapshot: NO_SNAPSHOTS,
  DeleteSnapshot: NO_SNAPSHOTS,
};

export const UNSERVED_PUBLISHER = {
  ListTopicSnapshots: NO_SNAPSHOTS,
  DetachSubscription: 'this local server cannot detach a subscription; delete it instead',
};
