import type { SubscriberDefinition } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { GrpcError } from '../rpc/grpc.ts';
import { refuseStale } from './exactly-once.ts';
import { leaseMillis } from './leases.ts';
import { microsOfTimestamp } from '../rpc/proto-time.ts';
import { pull } from './pull.ts';
import { unary, type CallContext } from './rpc.ts';
import { streamingPull } from './streaming-pull.ts';
import type { Subscriptions } from './subscriptions.ts';
import { type HandlersOf } from '../rpc/definition.ts';

/** google.pubsub.v1.Subscriber over the server's subscriptions. */
export function subscriberService(
  subscriptions: Subscriptions,
  context: CallContext,
): HandlersOf<SubscriberDefinition> {
  return {
    createSubscription: unary(context, 'createSubscription', (subscription) => subscriptions.create(subscription)),
    getSubscription: unary(context, 'getSubscription', ({ subscription }) => subscriptions.find(subscription).resource),
    updateSubscription: unary(context, 'updateSubscription', ({ subscription, updateMask }) =>
      subscriptions.update(subscription, updateMask),
    ),
    listSubscriptions: unary(context, 'listSubscriptions', ({ project, pageSize, pageToken }) => {
      const { items, nextPageToken } = subscriptions.list(project, pageSize, pageToken);
      return { subscriptions: items, nextPageToken };
    }),
    deleteSubscription: unary(context, 'deleteSubscription', ({ subscription }) => {
      subscriptions.delete(subscription);
      return {};
    }),
    modifyPushConfig: unary(context, 'modifyPushConfig', ({ subscription, pushConfig }) => {
      subscriptions.modifyPushConfig(subscription, pushConfig);
      return {};
    }),
    seek: unary(context, 'seek', ({ subscription, target }) => {
      const found = subscriptions.find(subscription);
      if (target?.$case !== 'time') throw new GrpcError('UNIMPLEMENTED', NO_SNAPSHOTS);
      found.seek(microsOfTimestamp(target.value));
      return {};
    }),
    ...deliveryMethods(subscriptions, context),
  };
}

function deliveryMethods(subscriptions: Subscriptions, context: CallContext) {
  return {
    pull: unary(context, 'pull', (request, call) =>
      pull(subscriptions.find(request.subscription), request, call, context),
    ),
    streamingPull: streamingPull(subscriptions, context),
    acknowledge: unary(context, 'acknowledge', ({ subscription, ackIds }) => {
      const found = subscriptions.find(subscription);
      refuseStale(found.acknowledge(ackIds), found.settings.isExactlyOnce);
      return {};
    }),
    modifyAckDeadline: unary(context, 'modifyAckDeadline', ({ subscription, ackIds, ackDeadlineSeconds }) => {
      const found = subscriptions.find(subscription);
      const millis = leaseMillis(ackDeadlineSeconds, context.timing);
      refuseStale(found.modifyDeadline(ackIds, millis), found.settings.isExactlyOnce);
      return {};
    }),
  } satisfies Partial<HandlersOf<SubscriberDefinition>>;
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
