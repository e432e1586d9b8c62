import type { PushConfig, Subscription } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { LiveSubscription } from './live-subscription.ts';
import { DELETED_TOPIC, parseName, parseProject } from './names.ts';
import { pageOf, type Page } from './paging.ts';
import type { SubscriptionContext } from './subscription-context.ts';
import { checkedSubscription, updatedSubscription } from './subscription-resource.ts';
import type { Topics } from './topics.ts';

/** The subscriptions of the server. */
export class Subscriptions {
  readonly #subscriptions = new Map<string, LiveSubscription>();
  readonly #topics: Topics;
  readonly #context: SubscriptionContext;

  constructor(topics: Topics, context: SubscriptionContext) {
    this.#topics = topics;
    this.#context = context;
  }

  /** All of them, by full name. */
  get all(): ReadonlyMap<string, LiveSubscription> {
    return this.#subscriptions;
  }

  create(asked: Subscription): Subscription {
    const resource = checkedSubscription(asked);
    if (this.#subscriptions.has(resource.name)) {
      throw new GrpcError('ALREADY_EXISTS', `subscription ${resource.name}: exists already`);
    }
    this.#topics.get(resource.topic);
    this.#requireDeadLetterTopic(resource);
    const subscription = new LiveSubscription(resource, this.#context);
    this.#subscriptions.set(resource.name, subscription);
    this.#topics.subscribe(resource.topic, subscription);
    return resource;
  }

  /** @throws NOT_FOUND */
  find(name: string): LiveSubscription {
    parseName('subscriptions', name);
    const subscription = this.#subscriptions.get(name);
    if (!subscription) throw new GrpcError('NOT_FOUND', `Resource not found (resource=${name.split('/')[3] ?? name}).`);
    return subscription;
  }

  update(changes: Subscription | undefined, mask: readonly string[] | undefined): Subscription {
    if (!changes) throw new GrpcError('INVALID_ARGUMENT', 'UpdateSubscription: subscription is missing');
    const subscription = this.find(changes.name);
    const resource = updatedSubscription(subscription.resource, changes, mask);
    this.#requireDeadLetterTopic(resource);
    subscription.configure(resource);
    return resource;
  }

  modifyPushConfig(name: string, pushConfig: PushConfig | undefined): void {
    const { resource } = this.find(name);
    this.update({ ...resource, pushConfig }, ['push_config']);
  }

  list(project: string, pageSize: number, pageToken: string): Page<Subscription> {
    const prefix = `projects/${parseProject(project)}/subscriptions/`;
    const { items, nextPageToken } = pageOf(this.#subscriptions, prefix, pageSize, pageToken);
    return { items: items.map(({ resource }) => resource), nextPageToken };
  }

  delete(name: string): void {
    const subscription = this.find(name);
    this.#subscriptions.delete(name);
    this.#topics.unsubscribe(subscription);
    subscription.close(new GrpcError('NOT_FOUND', `subscription ${name}: was deleted`));
  }

  /** Deletes a topic; its subscriptions stay with what they have. */
  deleteTopic(name: string): void {
    for (const subscription of this.#topics.delete(name)) {
      subscription.configure({ ...subscription.resource, topic: DELETED_TOPIC });
    }
  }

  /** Ends every delivery: the server closes, and a client that reconnects may find another. */
  closeAll(): void {
    const reason = new GrpcError('UNAVAILABLE', 'the local Pub/Sub server closes');
    for (const subscription of this.#subscriptions.values()) subscription.close(reason);
  }

  #requireDeadLetterTopic({ deadLetterPolicy }: Subscription): void {
    if (deadLetterPolicy) this.#topics.get(deadLetterPolicy.deadLetterTopic);
  }
}
