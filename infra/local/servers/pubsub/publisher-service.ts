import type { PublisherDefinition } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { GrpcError } from '../rpc/grpc.ts';
import { unary, type CallContext } from './rpc.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { Topics } from './topics.ts';
import { type HandlersOf } from '../rpc/definition.ts';

/** google.pubsub.v1.Publisher over the server's topics. */
export function publisherService(
  topics: Topics,
  subscriptions: Subscriptions,
  context: CallContext,
): HandlersOf<PublisherDefinition> {
  return {
    createTopic: unary(context, 'createTopic', (topic) => topics.create(topic)),
    getTopic: unary(context, 'getTopic', ({ topic }) => topics.get(topic)),
    updateTopic: unary(context, 'updateTopic', ({ topic, updateMask }) => topics.update(topic, updateMask)),
    listTopics: unary(context, 'listTopics', ({ project, pageSize, pageToken }) => {
      const { items, nextPageToken } = topics.list(project, pageSize, pageToken);
      return { topics: items, nextPageToken };
    }),
    listTopicSubscriptions: unary(context, 'listTopicSubscriptions', ({ topic, pageSize, pageToken }) => {
      const { items, nextPageToken } = topics.listSubscriptions(topic, pageSize, pageToken);
      return { subscriptions: items, nextPageToken };
    }),
    deleteTopic: unary(context, 'deleteTopic', ({ topic }) => {
      subscriptions.deleteTopic(topic);
      return {};
    }),
    publish: unary(context, 'publish', ({ topic, messages }) => {
      const messageIds = topics.publish(topic, messages);
      const dropped = context.faults.strike('drop-publish-answer', { topic });
      if (dropped) {
        throw new GrpcError(
          dropped.status ?? 'UNAVAILABLE',
          'publish: accepted, its answer dropped by an injected fault',
        );
      }
      return { messageIds };
    }),
  };
}
