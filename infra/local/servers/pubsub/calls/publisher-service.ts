import { PublisherDefinition } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { serve, type CallContext } from '../../rpc/calls.ts';
import type { Service } from '../../rpc/grpc.ts';
import type { PubSubCalls } from '../faults.ts';
import type { Subscriptions } from '../resources/subscriptions.ts';
import type { Topics } from '../resources/topics.ts';

/** google.pubsub.v1.Publisher over the server's topics. */
export function publisherService(
  topics: Topics,
  subscriptions: Subscriptions,
  context: CallContext<PubSubCalls>,
): Service {
  return serve(PublisherDefinition, context, {
    createTopic: (topic) => topics.create(topic),
    getTopic: ({ topic }) => topics.get(topic),
    updateTopic: ({ topic, updateMask }) => topics.update(topic, updateMask),
    listTopics: ({ project, pageSize, pageToken }) => {
      const { items, nextPageToken } = topics.list(project, pageSize, pageToken);
      return { topics: items, nextPageToken };
    },
    listTopicSubscriptions: ({ topic, pageSize, pageToken }) => {
      const { items, nextPageToken } = topics.listSubscriptions(topic, pageSize, pageToken);
      return { subscriptions: items, nextPageToken };
    },
    deleteTopic: ({ topic }) => {
      subscriptions.deleteTopic(topic);
      return {};
    },
    publish: ({ topic, messages }) => ({ messageIds: topics.publish(topic, messages) }),
  });
}
