import { afterAll, beforeAll, expect, test } from 'vitest';
import { STATUS_CODES } from '../../../../../../shared/model/status.ts';
import { codeOf, startFixture, type Fixture } from '../fixture.ts';

const { INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION, UNIMPLEMENTED } = STATUS_CODES;
let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture({ maxRetainedBytes: 200_000_000 });
});

afterAll(() => fixture.close());

test('topics and subscriptions can be listed page by page, by name', async () => {
  const { client } = fixture;
  const topic = await fixture.topic();
  for (const name of ['list-b', 'list-a', 'list-c']) await topic.createSubscription(name);
  const page = (pageToken: string) =>
    fixture.publisher.listTopicSubscriptions({ topic: topic.name, pageSize: 2, pageToken }, { autoPaginate: false });
  const [first, , { nextPageToken = '' }] = await page('');
  expect(first).toEqual(['projects/p/subscriptions/list-a', 'projects/p/subscriptions/list-b']);
  const [second, , last] = await page(nextPageToken ?? '');
  expect(second).toEqual(['projects/p/subscriptions/list-c']);
  expect(last.nextPageToken).toBe('');
  const [topics] = await client.getTopics({ pageSize: 1 });
  expect(topics.map(({ name }) => name)).toContain(topic.name);
  const [subscriptions] = await client.getSubscriptions();
  expect(subscriptions.length).toBeGreaterThanOrEqual(3);
});

test('a subscription is created with the defaults of the service', async () => {
  const { subscription, topic } = await fixture.subscribed({ retryPolicy: {} });
  const [metadata] = await subscription.getMetadata();
  expect(metadata).toMatchObject({
    topic: topic.name,
    ackDeadlineSeconds: 10,
    messageRetentionDuration: { seconds: '604800' },
    expirationPolicy: { ttl: { seconds: '2678400' } },
    retryPolicy: { minimumBackoff: { seconds: '10' }, maximumBackoff: { seconds: '600' } },
  });
});

test('an update changes the named fields alone, and refuses what is fixed', async () => {
  const { subscription } = await fixture.subscribed({ filter: 'attributes:a', labels: { keep: 'me' } });
  await subscription.setMetadata({ ackDeadlineSeconds: 77, retryPolicy: { minimumBackoff: { seconds: 1 } } });
  const [metadata] = await subscription.getMetadata();
  expect(metadata).toMatchObject({
    ackDeadlineSeconds: 77,
    labels: { keep: 'me' },
    retryPolicy: { minimumBackoff: { seconds: '1' }, maximumBackoff: { seconds: '600' } },
  });
  expect(await codeOf(subscription.setMetadata({ filter: 'attributes:b' }))).toBe(INVALID_ARGUMENT);
  expect(await codeOf(subscription.setMetadata({ ackDeadlineSeconds: 5 }))).toBe(INVALID_ARGUMENT);
});

test('labels of a topic can be changed', async () => {
  const topic = await fixture.topic();
  await topic.setMetadata({ labels: { a: 'b' } });
  expect((await topic.getMetadata())[0].labels).toEqual({ a: 'b' });
});

test('what does not exist is not found, what exists is not created again', async () => {
  const { client } = fixture;
  const { topic, subscription } = await fixture.subscribed();
  expect(await codeOf(client.topic('missing').getMetadata())).toBe(NOT_FOUND);
  expect(await codeOf(client.topic('missing').publishMessage({ data: Buffer.from('x') }))).toBe(NOT_FOUND);
  expect(await codeOf(client.topic('missing').createSubscription('orphan'))).toBe(NOT_FOUND);
  expect(await codeOf(client.subscription('missing').delete())).toBe(NOT_FOUND);
  expect(await codeOf(client.createTopic(topic.name))).toBe(ALREADY_EXISTS);
  expect(await codeOf(topic.createSubscription(subscription.name))).toBe(ALREADY_EXISTS);
});

test('a deleted topic leaves its subscriptions with what they have', async () => {
  const { topic, subscription } = await fixture.subscribed();
  await topic.publishMessage({ data: Buffer.from('x') });
  await topic.delete();
  expect((await subscription.getMetadata())[0].topic).toBe('_deleted-topic_');
  expect(fixture.server.counters(subscription.name).backlog).toBe(1);
  await subscription.delete();
  expect(fixture.server.retainedBytes).toBe(0);
});

const dead = { deadLetterTopic: 'projects/p/topics/topic-1', maxDeliveryAttempts: 5 };
test.each([
  ['an ack deadline of 9 s', { ackDeadlineSeconds: 9 }, INVALID_ARGUMENT],
  ['an ack deadline of 601 s', { ackDeadlineSeconds: 601 }, INVALID_ARGUMENT],
  ['a retention of 9 minutes', { messageRetentionDuration: 540 }, INVALID_ARGUMENT],
  ['a retention of 32 days', { messageRetentionDuration: 32 * 86_400 }, INVALID_ARGUMENT],
  ['a filter that is none', { filter: 'attributes =' }, INVALID_ARGUMENT],
  ['four delivery attempts', { deadLetterPolicy: { ...dead, maxDeliveryAttempts: 4 } }, INVALID_ARGUMENT],
  ['101 delivery attempts', { deadLetterPolicy: { ...dead, maxDeliveryAttempts: 101 } }, INVALID_ARGUMENT],
  [
    'a dead-letter topic that is missing',
    { deadLetterPolicy: { ...dead, deadLetterTopic: 'projects/p/topics/none' } },
    NOT_FOUND,
  ],
  ['a backoff above 600 s', { retryPolicy: { maximumBackoff: { seconds: 601 } } }, INVALID_ARGUMENT],
  [
    'a minimum backoff above the maximum',
    { retryPolicy: { minimumBackoff: { seconds: 9 }, maximumBackoff: { seconds: 8 } } },
    INVALID_ARGUMENT,
  ],
  ['an endpoint that is no URL', { pushEndpoint: 'somewhere' }, INVALID_ARGUMENT],
  [
    'exactly-once with push',
    { pushEndpoint: 'http://127.0.0.1:1/', enableExactlyOnceDelivery: true },
    INVALID_ARGUMENT,
  ],
  ['an export to BigQuery', { bigqueryConfig: { table: 'p.d.t' } }, UNIMPLEMENTED],
])('a subscription with %s is refused', async (_what, options, code) => {
  const topic = await fixture.topic();
  expect(await codeOf(topic.createSubscription('refused', options))).toBe(code);
});

test.each([
  ['too short', 'ab'],
  ['too long', 'x'.repeat(256)],
  ['begun with a digit', '1abc'],
  ['begun with goog', 'goog-topic'],
  ['with spaces', 'a b c'],
])('a topic id %s is refused', async (_what, id) => {
  expect(await codeOf(fixture.client.createTopic(id))).toBe(INVALID_ARGUMENT);
});

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
test.each<readonly [string, object, number]>([
  ['nothing in it', {}, INVALID_ARGUMENT],
  ['an ordering key alone', { orderingKey: 'k' }, -1],
  ['10,000,001 bytes', { data: Buffer.alloc(10_000_001) }, INVALID_ARGUMENT],
  ['10,000,000 bytes', { data: Buffer.alloc(10_000_000) }, -1],
  ['101 attributes', { attributes: many(101) }, INVALID_ARGUMENT],
  ['100 attributes', { attributes: many(100) }, -1],
  ['an attribute key of 257 bytes', { attributes: { ['ü'.repeat(128) + 'x']: 'v' } }, INVALID_ARGUMENT],
  ['an attribute value of 1025 bytes', { attributes: { k: 'v'.repeat(1025) } }, INVALID_ARGUMENT],
  ['an attribute value of 1024 bytes', { attributes: { k: 'v'.repeat(1024) } }, -1],
  ['an attribute key that starts with goog', { attributes: { google: 'v' } }, INVALID_ARGUMENT],
  ['an empty attribute key', { attributes: { '': 'v' } }, INVALID_ARGUMENT],
  ['an ordering key of 1025 bytes', { orderingKey: 'k'.repeat(1025), data: Buffer.from('x') }, INVALID_ARGUMENT],
])('a message with %s is refused or accepted as by the service', async (_what, message, code) => {
  const { name } = await fixture.topic();
  const topic = fixture.client.topic(name, { messageOrdering: true });
  expect(await codeOf(topic.publishMessage({ data: Buffer.alloc(0), ...message }))).toBe(code);
});

test('a request of more than 1000 messages or 10 MB is refused whole', async () => {
  const { topic, subscription } = await fixture.subscribed();
  const publish = (count: number, bytes: number): Promise<unknown> => {
    const messages = Array.from({ length: count }, () => ({ data: Buffer.alloc(bytes) }));
    return fixture.publisher.publish({ topic: topic.name, messages });
  };
  expect(await codeOf(publish(1001, 1))).toBe(INVALID_ARGUMENT);
  expect(await codeOf(publish(2, 5_000_001))).toBe(INVALID_ARGUMENT);
  expect(await codeOf(publish(0, 0))).toBe(INVALID_ARGUMENT);
  expect(await codeOf(publish(1000, 1))).toBe(-1);
  expect(fixture.server.counters(subscription.name).matched).toBe(1000);
});

test('pulling from a push subscription is refused', async () => {
  const { subscription } = await fixture.subscribed({ pushEndpoint: 'http://127.0.0.1:1/' });
  expect(await codeOf(fixture.subscriber.pull({ subscription: subscription.name, maxMessages: 1 }))).toBe(
    FAILED_PRECONDITION,
  );
});

test('a server whose memory is full of backlog refuses publishes until some of it is acknowledged', async () => {
  const small = await startFixture({ maxRetainedBytes: 100_000 });
  const { topic, subscription } = await small.subscribed();
  await topic.publishMessage({ data: Buffer.alloc(90_000) });
  // The client retries RESOURCE_EXHAUSTED for a minute: ask the server once.
  const publish = () =>
    small.publisher.publish({ topic: topic.name, messages: [{ data: Buffer.alloc(20_000) }] }, { retry: null });
  expect(await codeOf(publish())).toBe(STATUS_CODES.RESOURCE_EXHAUSTED);
  expect(small.server.retainedBytes).toBeLessThan(100_000);
  await subscription.seek(new Date(Date.now() + 60_000));
  expect(small.server.retainedBytes).toBe(0);
  await publish();
  await small.close();
});

test.each([
  [{ timeScale: 0 }, 'timeScale: must be a finite number above 0, got 0'],
  [{ timeScale: Infinity }, 'timeScale: must be a finite number above 0, got Infinity'],
  [{ pushConcurrency: 0 }, 'pushConcurrency: must be a whole number from 1, got 0'],
])('a server with %j does not start', async (options, rule) => {
  await expect(startFixture(options)).rejects.toThrow(rule);
});
