import {
  PubSub,
  v1,
  type CreateSubscriptionOptions,
  type Message,
  type Subscription,
  type Topic,
} from '@google-cloud/pubsub';
import { credentials } from '@grpc/grpc-js';
import {
  startPubSubServer,
  type LocalPubSub,
  type PubSubServerOptions,
} from '../../../../../infra/local/servers/pubsub/server.ts';
import { until } from './push-endpoint.ts';

export interface Fixture {
  readonly server: LocalPubSub;
  readonly client: PubSub;
  /** The generated clients, for calls that the friendly one does not make. Closed with the fixture. */
  readonly publisher: v1.PublisherClient;
  readonly subscriber: v1.SubscriberClient;
  /** A new topic. */
  topic(): Promise<Topic>;
  /** A new topic with one subscription. */
  subscribed(options?: CreateSubscriptionOptions): Promise<{ topic: Topic; subscription: Subscription }>;
  /** Waits until everything published to a subscription is acknowledged or dead-lettered. */
  drained(subscription: string): Promise<void>;
  close(): Promise<void>;
}

/** An embedded server with the official client connected to it. Names are never used twice. */
export async function startFixture(options: PubSubServerOptions = {}): Promise<Fixture> {
  const server = await startPubSubServer(options);
  const client = new PubSub({ projectId: 'p', apiEndpoint: server.address, emulatorMode: true });
  const raw = rawOptions(server.address);
  const publisher = new v1.PublisherClient(raw);
  const subscriber = new v1.SubscriberClient(raw);
  let names = 0;
  const topic = async (): Promise<Topic> => {
    names += 1;
    const [created] = await client.createTopic(`topic-${names}`);
    return created;
  };
  return {
    server,
    client,
    publisher,
    subscriber,
    topic,
    async subscribed(subscriptionOptions = {}) {
      const created = await topic();
      await created.createSubscription(`sub-${names}`, subscriptionOptions);
      // Acknowledgements leave at once: under a time scale the client's usual 100 ms are a good part of a lease.
      const subscription = client.subscription(`sub-${names}`, { batching: { maxMilliseconds: 1 } });
      return { topic: created, subscription };
    },
    drained: (subscription) => until(() => server.counters(subscription).backlog === 0, `${subscription} to drain`),
    async close() {
      await Promise.all([client.close(), publisher.close(), subscriber.close()]);
      await server.close();
    },
  };
}

/** What the generated clients need to speak to a server without TLS. */
export function rawOptions(address: string) {
  const [servicePath, port] = address.split(':');
  return { servicePath: servicePath!, port: Number(port), sslCreds: credentials.createInsecure(), projectId: 'p' };
}

/** The gRPC status of a call that must fail; −1 when it did not. */
export const codeOf = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => -1,
    (error: unknown) => (error as { readonly code: number }).code,
  );

export interface Puller {
  readonly messages: Message[];
  close(): Promise<void>;
}

/** Pulls with the official client's StreamingPull. Acknowledges unless the handler does something else. */
export function startPuller(
  subscription: Subscription,
  handle: (message: Message, index: number) => void = (message) => {
    message.ack();
  },
): Puller {
  const messages: Message[] = [];
  subscription.on('error', (error: unknown) => {
    throw error;
  });
  subscription.on('message', (message: Message) => {
    messages.push(message);
    handle(message, messages.length - 1);
  });
  return { messages, close: () => subscription.close() };
}
