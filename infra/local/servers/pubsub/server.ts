import { systemClock, type Clock } from '../../../../shared/base/clock.ts';
import { systemRandom, type Random } from '../../../../shared/base/random.ts';
import type { Logger } from '../../../../shared/base/logging.ts';
import { PublisherDefinition, SubscriberDefinition } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { draftServer, type RpcServer } from '../rpc/server.ts';
import { unserved } from '../rpc/unserved.ts';
import { publisherService } from './calls/publisher-service.ts';
import { subscriberService, UNSERVED_PUBLISHER, UNSERVED_SUBSCRIBER } from './calls/subscriber-service.ts';
import { MessageStore } from './delivery/message-store.ts';
import type { PubSubCalls } from './faults.ts';
import type { SubscriptionContext, SubscriptionCounters } from './resources/subscription-context.ts';
import { Subscriptions } from './resources/subscriptions.ts';
import { Topics } from './resources/topics.ts';
import { createTiming } from './timing.ts';

export interface PubSubServerOptions {
  /** Port on 127.0.0.1. Default: a free one. */
  readonly port?: number;
  readonly clock?: Clock;
  /** Told of defects of the server itself. Default: nobody. */
  readonly log?: Logger;
  /** Chooses how far an injected reordering jumps. */
  readonly random?: Random;
  /**
   * How much faster than the service deadlines, leases, backoffs and retry delays run. Default 1. Retention and
   * injected delays keep their length. A client's own lease extension does not know of it.
   */
  readonly timeScale?: number;
  /** Pushes that one subscription may have outstanding. Default 64. */
  readonly pushConcurrency?: number;
  /** Memory for messages that are held, in bytes. Default 1 GiB. Beyond it a publish gets RESOURCE_EXHAUSTED. */
  readonly maxRetainedBytes?: number;
}

/** A Pub/Sub in this process. When it closes, pushes and timers end too; what was not acknowledged is gone. */
export interface LocalPubSub extends RpcServer<PubSubCalls> {
  /** Bytes of messages held, an estimate of the overhead included. */
  readonly retainedBytes: number;
  /** What happened on a subscription, by its full name. @throws NOT_FOUND */
  counters(subscription: string): SubscriptionCounters;
  /** The same of every subscription. */
  allCounters(): ReadonlyMap<string, SubscriptionCounters>;
}

/**
 * Serves google.pubsub.v1 Publisher and Subscriber from memory: the official clients connect to it unchanged, and
 * push subscriptions deliver over HTTP as the service does. Not there: snapshots, schemas, message transforms, detaching,
 * exports to other products, retention by topic (a topic keeps the setting and nothing else), and OIDC tokens on pushes.
 *
 * @example
 * const pubsub = await startPubSubServer({ timeScale: 100 });
 * process.env.PUBSUB_EMULATOR_HOST = pubsub.address;
 */
export async function startPubSubServer(options: PubSubServerOptions = {}): Promise<LocalPubSub> {
  const timing = createTiming(options.clock ?? systemClock, options.timeScale ?? 1);
  const store = new MessageStore(options.maxRetainedBytes ?? 1024 ** 3, timing.clock.now());
  const topics = new Topics(store, timing.clock);
  const { context, listen } = draftServer<PubSubCalls>({ product: 'Pub/Sub', clock: timing.clock, log: options.log });
  const subscriptionContext: SubscriptionContext = {
    timing,
    store,
    faults: context.faults,
    random: options.random ?? systemRandom,
    pushConcurrency: atLeastOne(options.pushConcurrency ?? 64),
    bury: (entry, subscription, topic) => topics.publishDeadLetter(topic, entry, subscription),
  };
  const subscriptions = new Subscriptions(topics, subscriptionContext);
  const server = await listen(
    [
      publisherService(topics, subscriptions, context),
      subscriberService(subscriptions, timing, context),
      unserved(PublisherDefinition.fullName, UNSERVED_PUBLISHER),
      unserved(SubscriberDefinition.fullName, UNSERVED_SUBSCRIBER),
    ],
    options.port,
  );
  return {
    ...server,
    get retainedBytes() {
      return store.retainedBytes;
    },
    counters: (subscription) => subscriptions.find(subscription).counters,
    allCounters: () => new Map([...subscriptions.all].map(([name, { counters }]) => [name, counters])),
    close: () => {
      subscriptions.closeAll();
      return server.close();
    },
  };
}

function atLeastOne(pushConcurrency: number): number {
  if (!(Number.isInteger(pushConcurrency) && pushConcurrency >= 1)) {
    throw new RangeError(`pushConcurrency: must be a whole number from 1, got ${pushConcurrency}`);
  }
  return pushConcurrency;
}
