import type { Clock } from '../../../../../shared/base/clock.ts';
import type { PubsubMessage, Topic } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { rfc3339OfMicros } from '../../rpc/proto-time.ts';
import type { Entry } from '../delivery/entry.ts';
import { checkPublish } from '../delivery/limits.ts';
import type { MessageStore } from '../delivery/message-store.ts';
import type { LiveSubscription } from './live-subscription.ts';
import { parseName, parseProject } from './names.ts';
import { pageOf, type Page } from './paging.ts';
import { applyMask } from './update-mask.ts';

interface LiveTopic {
  resource: Topic;
  readonly subscriptions: Map<string, LiveSubscription>;
}

const UPDATABLE = {
  labels: 'labels',
  message_storage_policy: 'messageStoragePolicy',
  message_retention_duration: 'messageRetentionDuration',
  kms_key_name: 'kmsKeyName',
} as const satisfies Record<string, keyof Topic>;

/** The topics of the server, and the way of a published message to its subscriptions. */
export class Topics {
  readonly #topics = new Map<string, LiveTopic>();
  readonly #store: MessageStore;
  readonly #clock: Clock;

  constructor(store: MessageStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  create(asked: Topic): Topic {
    parseName('topics', asked.name);
    const unsupported = asked.schemaSettings ?? asked.ingestionDataSourceSettings ?? asked.messageTransforms[0];
    if (unsupported) {
      throw new GrpcError(
        'UNIMPLEMENTED',
        `topic ${asked.name}: this local server has no schemas, ingestion or message transforms`,
      );
    }
    if (this.#topics.has(asked.name)) throw new GrpcError('ALREADY_EXISTS', `topic ${asked.name}: exists already`);
    const resource: Topic = { ...asked, state: 1 };
    this.#topics.set(asked.name, { resource, subscriptions: new Map() });
    return resource;
  }

  get(name: string): Topic {
    return this.#find(name).resource;
  }

  update(changes: Topic | undefined, mask: readonly string[] | undefined): Topic {
    if (!changes) throw new GrpcError('INVALID_ARGUMENT', 'UpdateTopic: topic is missing');
    const topic = this.#find(changes.name);
    topic.resource = applyMask(topic.resource, changes, mask, UPDATABLE);
    return topic.resource;
  }

  list(project: string, pageSize: number, pageToken: string): Page<Topic> {
    const prefix = `projects/${parseProject(project)}/topics/`;
    const { items, nextPageToken } = pageOf(this.#topics, prefix, pageSize, pageToken);
    return { items: items.map(({ resource }) => resource), nextPageToken };
  }

  listSubscriptions(topic: string, pageSize: number, pageToken: string): Page<string> {
    const { items, nextPageToken } = pageOf(this.#find(topic).subscriptions, '', pageSize, pageToken);
    return { items: items.map(({ resource }) => resource.name), nextPageToken };
  }

  /** Deletes a topic. @returns its subscriptions: they keep their messages and get no more. */
  delete(name: string): LiveSubscription[] {
    const { subscriptions } = this.#find(name);
    this.#topics.delete(name);
    return [...subscriptions.values()];
  }

  has(name: string): boolean {
    return this.#topics.has(name);
  }

  subscribe(topic: string, subscription: LiveSubscription): void {
    this.#find(topic).subscriptions.set(subscription.resource.name, subscription);
  }

  unsubscribe({ resource }: LiveSubscription): void {
    this.#topics.get(resource.topic)?.subscriptions.delete(resource.name);
  }

  /**
   * Accepts messages whole or not at all and hands them to every subscription. @returns their ids.
   * @throws INVALID_ARGUMENT past a limit, NOT_FOUND, RESOURCE_EXHAUSTED when the server's memory is full of backlog.
   */
  publish(name: string, messages: readonly PubsubMessage[]): string[] {
    const topic = this.#find(name);
    this.#makeRoom(checkPublish(messages), messages.length);
    return this.#deliver(topic, messages);
  }

  /** Publishes one dead letter, whose attributes may exceed the limits. @returns false when there is no such topic. */
  publishDeadLetter(name: string, entry: Entry, subscription: string): boolean {
    const topic = this.#topics.get(name);
    if (!topic) return false;
    this.#deliver(topic, [deadLetter(entry, subscription)]);
    return true;
  }

  #deliver({ subscriptions }: LiveTopic, messages: readonly PubsubMessage[]): string[] {
    const now = this.#clock.now();
    const stamped = messages.map((message) => this.#store.stamp(message, now));
    for (const subscription of subscriptions.values()) subscription.offer(stamped);
    return stamped.map(({ wire }) => wire.messageId);
  }

  /** Gives up acknowledged messages that are kept for a seek before it refuses new ones. */
  #makeRoom(bytes: number, messages: number): void {
    if (this.#store.excess(bytes, messages) <= 0) return;
    for (const { subscriptions } of this.#topics.values()) {
      for (const subscription of subscriptions.values()) subscription.dropRetained();
    }
    const excess = this.#store.excess(bytes, messages);
    if (excess <= 0) return;
    throw new GrpcError(
      'RESOURCE_EXHAUSTED',
      `publish: the local server's memory for unacknowledged messages is full by ${excess} bytes; acknowledge some, or start it with a higher maxRetainedBytes`,
    );
  }

  #find(name: string): LiveTopic {
    parseName('topics', name);
    const topic = this.#topics.get(name);
    if (!topic) throw new GrpcError('NOT_FOUND', `Resource not found (resource=${name.split('/')[3] ?? name}).`);
    return topic;
  }
}

/**
 * What a dead-letter policy publishes in place of a message: data, attributes and ordering key of the original, and
 * four attributes that say where it came from (cloud.google.com/pubsub/docs/dead-letter-topics). Pure.
 */
function deadLetter({ message, attempts }: Entry, subscription: string): PubsubMessage {
  const { project, id } = parseName('subscriptions', subscription);
  const { data, attributes, orderingKey } = message.wire;
  return {
    data,
    orderingKey,
    attributes: {
      ...attributes,
      CloudPubSubDeadLetterSourceDeliveryCount: String(attempts),
      CloudPubSubDeadLetterSourceSubscription: id,
      CloudPubSubDeadLetterSourceSubscriptionProject: project,
      CloudPubSubDeadLetterSourceTopicPublishTime: rfc3339OfMicros(message.publishMicros),
    },
    messageId: '',
    publishTime: undefined,
  };
}
