import { PubSub, v1, type CreateSubscriptionOptions, type Topic } from '@google-cloud/pubsub';
import { codeOf, rawOptions } from '../infra/local/servers/pubsub/fixture.ts';
import { startPushEndpoint, until } from '../infra/local/servers/pubsub/push-endpoint.ts';

/** A Pub/Sub server under test, as its clients see it. */
export class Bench {
  readonly client: PubSub;
  readonly publisher: v1.PublisherClient;
  readonly subscriber: v1.SubscriberClient;
  #names = 0;

  constructor(address: string) {
    this.client = new PubSub({ projectId: 'p', apiEndpoint: address, emulatorMode: true });
    this.publisher = new v1.PublisherClient(rawOptions(address));
    this.subscriber = new v1.SubscriberClient(rawOptions(address));
  }

  async topic(): Promise<Topic> {
    this.#names += 1;
    const [topic] = await this.client.createTopic(`topic-${this.#names}`);
    return this.client.topic(topic.name, { messageOrdering: true });
  }

  async subscribed(options: CreateSubscriptionOptions = {}) {
    const topic = await this.topic();
    const name = `sub-${this.#names}`;
    const [subscription] = await topic.createSubscription(name, options);
    return { topic, subscription };
  }

  /** Pulls until this many messages came, or until nothing came for `quietMillis`. */
  async pull(subscription: string, atMost: number, quietMillis = 700) {
    const messages: Pulled[] = [];
    let quietSince = Date.now();
    while (messages.length < atMost && Date.now() - quietSince < quietMillis) {
      const [answer] = await this.subscriber.pull({
        subscription,
        maxMessages: atMost - messages.length,
        returnImmediately: true,
      });
      for (const { ackId, message, deliveryAttempt } of answer.receivedMessages ?? []) {
        quietSince = Date.now();
        messages.push({
          ackId: ackId ?? '',
          id: message?.messageId ?? '',
          text: Buffer.from(message?.data ?? '').toString(),
          attributes: { ...message?.attributes },
          attempt: deliveryAttempt ?? 0,
        });
      }
      if (messages.length < atMost) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return messages;
  }

  acknowledge(subscription: string, pulled: readonly Pulled[]) {
    return this.subscriber.acknowledge({ subscription, ackIds: pulled.map(({ ackId }) => ackId) });
  }

  /** Moves the end of a lease; 0 s is a nack. */
  lease(subscription: string, { ackId }: Pulled, ackDeadlineSeconds: number) {
    return this.subscriber.modifyAckDeadline({ subscription, ackIds: [ackId], ackDeadlineSeconds });
  }

  async close(): Promise<void> {
    await Promise.all([this.client.close(), this.publisher.close(), this.subscriber.close()]);
  }
}

interface Pulled {
  readonly ackId: string;
  readonly id: string;
  readonly text: string;
  readonly attributes: Record<string, string>;
  readonly attempt: number;
}

/** Something the service does: how to see it, and what is to be seen. */
export interface Behaviour {
  readonly expected: unknown;
  observe(bench: Bench): Promise<unknown>;
}

const data = (text: string) => ({ data: Buffer.from(text) });
const OK = -1;
const [INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION] = [3, 5, 6, 9];

/** The status of publishing one message. */
const publishing = (message: object, expected: number): Behaviour => ({
  expected,
  observe: async (bench) => {
    const { name } = await bench.topic();
    return codeOf(bench.publisher.publish({ topic: name, messages: [message] }, { retry: null }));
  },
});

/** The status of creating a subscription. */
const creating = (options: CreateSubscriptionOptions, expected: number): Behaviour => ({
  expected,
  observe: async (bench) => {
    const topic = await bench.topic();
    return codeOf(topic.createSubscription(`${topic.name.split('/').at(-1) ?? ''}-sub`, options));
  },
});

const attributes = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));

export const RESOURCES: Readonly<Record<string, Behaviour>> = {
  'a topic exists once': {
    expected: ALREADY_EXISTS,
    observe: async (bench) => codeOf(bench.client.createTopic((await bench.topic()).name)),
  },
  'a subscription needs its topic': {
    expected: NOT_FOUND,
    observe: (bench) => codeOf(bench.client.topic('missing').createSubscription('orphan')),
  },
  'publishing needs the topic': {
    expected: NOT_FOUND,
    observe: (bench) => codeOf(bench.publisher.publish({ topic: 'projects/p/topics/missing', messages: [data('x')] })),
  },
  'pulling needs the subscription': {
    expected: NOT_FOUND,
    observe: (bench) =>
      codeOf(bench.subscriber.pull({ subscription: 'projects/p/subscriptions/missing', maxMessages: 1 })),
  },
  'a topic id has at least three characters': {
    expected: INVALID_ARGUMENT,
    observe: (bench) => codeOf(bench.client.createTopic('ab')),
  },
  'labels of a topic can be updated': {
    expected: OK,
    observe: async (bench) => codeOf((await bench.topic()).setMetadata({ labels: { a: 'b' } })),
  },
  'a subscription has the defaults of the service': {
    expected: { ackDeadlineSeconds: 10, retentionSeconds: 604_800, ordered: false },
    observe: async (bench) => {
      const { subscription } = await bench.subscribed();
      const [metadata] = await subscription.getMetadata();
      return {
        ackDeadlineSeconds: metadata.ackDeadlineSeconds,
        retentionSeconds: Number((metadata.messageRetentionDuration as { seconds: string }).seconds),
        ordered: metadata.enableMessageOrdering,
      };
    },
  },
  'a deleted topic leaves its subscriptions': {
    expected: '_deleted-topic_',
    observe: async (bench) => {
      const { topic, subscription } = await bench.subscribed();
      await topic.delete();
      return (await subscription.getMetadata())[0].topic;
    },
  },
  'an ack deadline has at least 10 s': creating({ ackDeadlineSeconds: 5 }, INVALID_ARGUMENT),
  'an ack deadline has at most 600 s': creating({ ackDeadlineSeconds: 601 }, INVALID_ARGUMENT),
  'a filter must be one': creating({ filter: 'attributes =' }, INVALID_ARGUMENT),
  'a dead-letter policy has at least five attempts': {
    expected: INVALID_ARGUMENT,
    observe: async (bench) => {
      const { name } = await bench.topic();
      return creating({ deadLetterPolicy: { deadLetterTopic: name, maxDeliveryAttempts: 4 } }, 0).observe(bench);
    },
  },
  'a dead-letter topic must exist': creating(
    { deadLetterPolicy: { deadLetterTopic: 'projects/p/topics/missing', maxDeliveryAttempts: 5 } },
    NOT_FOUND,
  ),
  'exactly-once delivery excludes push': creating(
    { pushEndpoint: 'http://127.0.0.1:1/', enableExactlyOnceDelivery: true },
    INVALID_ARGUMENT,
  ),
  'a push subscription cannot be pulled': {
    expected: FAILED_PRECONDITION,
    observe: async (bench) => {
      const { subscription } = await bench.subscribed({ pushEndpoint: 'http://127.0.0.1:1/' });
      const pull = { subscription: subscription.name, maxMessages: 1, returnImmediately: true };
      return codeOf(bench.subscriber.pull(pull));
    },
  },
  'a snapshot can be taken': {
    expected: OK,
    observe: async (bench) => {
      const { subscription } = await bench.subscribed();
      return codeOf(subscription.createSnapshot(`${subscription.name.split('/').at(-1) ?? ''}-snapshot`));
    },
  },
  'a subscription can be detached': {
    expected: OK,
    observe: async (bench) => codeOf(bench.client.detachSubscription((await bench.subscribed()).subscription.name)),
  },
};

export const PUBLISHING: Readonly<Record<string, Behaviour>> = {
  'a message must have something in it': publishing({}, INVALID_ARGUMENT),
  'attributes alone are a message': publishing({ attributes: { a: '1' } }, OK),
  'a message has at most 10,000,000 bytes': publishing({ data: Buffer.alloc(10_000_001) }, INVALID_ARGUMENT),
  'a message may have 9,900,000 bytes': publishing({ data: Buffer.alloc(9_900_000) }, OK),
  'a message has at most 100 attributes': publishing({ attributes: attributes(101) }, INVALID_ARGUMENT),
  'a message may have 100 attributes': publishing({ attributes: attributes(100) }, OK),
  'an attribute key has at most 256 bytes': publishing({ attributes: { ['k'.repeat(257)]: 'v' } }, INVALID_ARGUMENT),
  'an attribute value has at most 1024 bytes': publishing({ attributes: { k: 'v'.repeat(1025) } }, INVALID_ARGUMENT),
  'an attribute key does not start with goog': publishing({ attributes: { google: 'v' } }, INVALID_ARGUMENT),
  'an ordering key has at most 1024 bytes': publishing(
    { ...data('x'), orderingKey: 'k'.repeat(1025) },
    INVALID_ARGUMENT,
  ),
  'a request has at most 1000 messages': {
    expected: INVALID_ARGUMENT,
    observe: async (bench) => {
      const { name } = await bench.topic();
      return codeOf(bench.publisher.publish({ topic: name, messages: Array.from({ length: 1001 }, () => data('x')) }));
    },
  },
  'the messages of a request have one ordering key': {
    expected: [OK, INVALID_ARGUMENT, INVALID_ARGUMENT],
    observe: async (bench) => {
      const { name } = await bench.topic();
      const publish = (...keys: string[]) => {
        const messages = keys.map((orderingKey) => ({ ...data('x'), orderingKey }));
        return codeOf(bench.publisher.publish({ topic: name, messages }, { retry: null }));
      };
      return [await publish('a', 'a'), await publish('a', 'b'), await publish('a', '')];
    },
  },
  'every message gets its own id, in one request too': {
    expected: 3,
    observe: async (bench) => {
      const { name } = await bench.topic();
      const [{ messageIds }] = await bench.publisher.publish({
        topic: name,
        messages: [data('a'), data('a'), data('a')],
      });
      return new Set(messageIds).size;
    },
  },
};

export const PULLING: Readonly<Record<string, Behaviour>> = {
  'what is acknowledged does not come back': {
    expected: { texts: ['x'], attributes: { a: '1' }, again: 0 },
    observe: async (bench) => {
      const { topic, subscription } = await bench.subscribed();
      await topic.publishMessage({ ...data('x'), attributes: { a: '1' } });
      const pulled = await bench.pull(subscription.name, 1, 5000);
      await bench.acknowledge(subscription.name, pulled);
      const again = await bench.pull(subscription.name, 1);
      return { texts: pulled.map(({ text }) => text), attributes: pulled[0]?.attributes, again: again.length };
    },
  },
  'a message whose lease is over comes back with its id': {
    expected: { sameId: true, sameAckId: false },
    observe: async (bench) => {
      const { topic, subscription } = await bench.subscribed();
      await topic.publishMessage(data('x'));
      const [first] = await bench.pull(subscription.name, 1, 5000);
      await bench.lease(subscription.name, first!, 1);
      const [second] = await bench.pull(subscription.name, 1, 8000);
      return { sameId: first?.id === second?.id, sameAckId: first?.ackId === second?.ackId };
    },
  },
  'a filter is applied': {
    expected: ['kept'],
    observe: async (bench) => {
      const { topic, subscription } = await bench.subscribed({ filter: 'attributes.kind = "kept"' });
      for (const kind of ['kept', 'other']) await topic.publishMessage({ ...data(kind), attributes: { kind } });
      return (await bench.pull(subscription.name, 2)).map(({ text }) => text);
    },
  },
  'what is published to a key waits until what is out of that key is acknowledged': {
    expected: [['1'], [], ['2']],
    observe: async (bench) => {
      const { topic, subscription } = await bench.subscribed({ enableMessageOrdering: true });
      await topic.publishMessage({ ...data('1'), orderingKey: 'k' });
      const first = await bench.pull(subscription.name, 1, 5000);
      await topic.publishMessage({ ...data('2'), orderingKey: 'k' });
      const second = await bench.pull(subscription.name, 1);
      await bench.acknowledge(subscription.name, first);
      const third = await bench.pull(subscription.name, 1, 5000);
      return [first, second, third].map((messages) => messages.map(({ text }) => text));
    },
  },
  'a nacked message of a key comes back before its successors': {
    expected: ['1', '1', '2', '3'],
    observe: async (bench) => {
      const { topic, subscription } = await bench.subscribed({ enableMessageOrdering: true });
      for (const text of ['1', '2', '3']) await topic.publishMessage({ ...data(text), orderingKey: 'k' });
      const texts: string[] = [];
      while (texts.length < 4) {
        const [message] = await bench.pull(subscription.name, 1, 5000);
        if (!message) break;
        texts.push(message.text);
        if (texts.length === 1) await bench.lease(subscription.name, message, 0);
        else await bench.acknowledge(subscription.name, [message]);
      }
      return texts;
    },
  },
  'after five attempts a message goes to the dead-letter topic': {
    expected: {
      attempts: [1, 2, 3, 4, 5],
      letter: 'x',
      added: [
        'CloudPubSubDeadLetterSourceDeliveryCount',
        'CloudPubSubDeadLetterSourceSubscription',
        'CloudPubSubDeadLetterSourceSubscriptionProject',
        'CloudPubSubDeadLetterSourceTopicPublishTime',
      ],
    },
    observe: async (bench) => {
      const dead = await bench.subscribed();
      const deadLetterPolicy = { deadLetterTopic: dead.topic.name, maxDeliveryAttempts: 5 };
      const { topic, subscription } = await bench.subscribed({ deadLetterPolicy });
      await topic.publishMessage(data('x'));
      const attempts: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const [message] = await bench.pull(subscription.name, 1, 5000);
        if (!message) break;
        attempts.push(message.attempt);
        await bench.lease(subscription.name, message, 0);
      }
      // Google's emulator forwards a message only when it would deliver it once more.
      const sixth = await bench.pull(subscription.name, 1);
      attempts.push(...sixth.map(({ attempt }) => attempt));
      const [letter] = await bench.pull(dead.subscription.name, 1, 5000);
      return { attempts, letter: letter?.text, added: Object.keys(letter?.attributes ?? {}).toSorted() };
    },
  },
  'a seek to a time brings back what was acknowledged and is retained': {
    expected: ['1', '2'],
    observe: async (bench) => {
      const { topic, subscription } = await bench.subscribed({ retainAckedMessages: true });
      for (const text of ['1', '2']) await topic.publishMessage(data(text));
      const pulled = await bench.pull(subscription.name, 2, 5000);
      await bench.acknowledge(subscription.name, pulled);
      await subscription.seek(new Date(Date.now() - 60_000));
      return (await bench.pull(subscription.name, 2, 2000)).map(({ text }) => text).toSorted();
    },
  },
};

const STATUSES = [200, 201, 202, 203, 204, 205, 301, 400, 500] as const;

export const PUSHING: Readonly<Record<string, Behaviour>> = {
  'the wrapped body carries the message and its ordering key': {
    expected: {
      body: ['message', 'subscription'],
      message: ['attributes', 'data', 'messageId', 'message_id', 'orderingKey', 'publishTime', 'publish_time'],
      data: Buffer.from('x').toString('base64'),
      attributes: { a: '1' },
    },
    observe: async (bench) => {
      const endpoint = await startPushEndpoint();
      const { topic } = await bench.subscribed({ pushEndpoint: endpoint.url, enableMessageOrdering: true });
      await topic.publishMessage({ ...data('x'), attributes: { a: '1' }, orderingKey: 'k' });
      await endpoint.received(1);
      const [body] = endpoint.bodies();
      await endpoint.close();
      return {
        body: Object.keys(body!).toSorted(),
        message: Object.keys(body!.message).toSorted(),
        data: body!.message.data,
        attributes: body!.message.attributes,
      };
    },
  },
  'the delivery attempt is in the body with a dead-letter policy': {
    expected: 1,
    observe: async (bench) => {
      const endpoint = await startPushEndpoint();
      const dead = await bench.topic();
      const deadLetterPolicy = { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 };
      const { topic } = await bench.subscribed({ pushEndpoint: endpoint.url, deadLetterPolicy });
      await topic.publishMessage(data('x'));
      await endpoint.received(1);
      await endpoint.close();
      return endpoint.bodies()[0]?.deliveryAttempt;
    },
  },
  'a message of attributes alone has empty data': {
    expected: '',
    observe: async (bench) => {
      const endpoint = await startPushEndpoint();
      const { topic } = await bench.subscribed({ pushEndpoint: endpoint.url });
      await topic.publishMessage({ attributes: { a: '1' } });
      await endpoint.received(1);
      await endpoint.close();
      return endpoint.bodies()[0]?.message.data;
    },
  },
  '200, 201, 202 and 204 acknowledge; everything else refuses': {
    expected: [200, 201, 202, 204],
    observe: async (bench) => {
      const seen = new Map<number, number>();
      const endpoint = await startPushEndpoint((push) => {
        const { message } = JSON.parse(push.raw.toString()) as { message: { attributes: { status: string } } };
        const status = Number(message.attributes.status);
        seen.set(status, (seen.get(status) ?? 0) + 1);
        return seen.get(status) === 1 ? status : 204;
      });
      const { topic } = await bench.subscribed({ pushEndpoint: endpoint.url });
      for (const status of STATUSES) await topic.publishMessage({ attributes: { status: String(status) } });
      await until(() => [...seen.values()].filter((count) => count > 1).length >= 5, 'the redeliveries', 8000);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await endpoint.close();
      return STATUSES.filter((status) => seen.get(status) === 1);
    },
  },
  'a redelivered push has the same message id and publish time': {
    expected: { ids: 1, times: 1 },
    observe: async (bench) => {
      const endpoint = await startPushEndpoint((_push, index) => (index === 0 ? 500 : 204));
      const { topic } = await bench.subscribed({ pushEndpoint: endpoint.url });
      await topic.publishMessage(data('x'));
      await endpoint.received(2, 10_000);
      await endpoint.close();
      const messages = endpoint.bodies().map(({ message }) => message);
      return {
        ids: new Set(messages.map(({ messageId }) => messageId)).size,
        times: new Set(messages.map(({ publishTime }) => publishTime)).size,
      };
    },
  },
  'more than two pushes are under way at once': {
    expected: true,
    observe: async (bench) => {
      let underWay = 0;
      let most = 0;
      const endpoint = await startPushEndpoint(async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise((resolve) => setTimeout(resolve, 150));
        underWay -= 1;
        return 204;
      });
      const { topic } = await bench.subscribed({ pushEndpoint: endpoint.url, ackDeadlineSeconds: 600 });
      await Promise.all(Array.from({ length: 12 }, (_, index) => topic.publishMessage(data(String(index)))));
      await endpoint.received(12, 10_000);
      await until(() => underWay === 0, 'the last answer');
      await endpoint.close();
      return most > 2;
    },
  },
};
