import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFixture, type Fixture } from '../fixture.ts';
import { startPushEndpoint, until, type PushEndpoint, type PushHandler } from '../push-endpoint.ts';

/** Deadlines and backoffs run a hundred times faster: 300 s are 3 s, which a busy machine does not use up. */
let fixture: Fixture;
const endpoints: PushEndpoint[] = [];

beforeAll(async () => {
  fixture = await startFixture({ timeScale: 100 });
});

afterAll(async () => {
  await fixture.close();
  for (const endpoint of endpoints) await endpoint.close();
});

type Options = Parameters<Fixture['subscribed']>[0];

async function pushed(handle?: PushHandler, options: Options = {}) {
  const endpoint = await startPushEndpoint(handle);
  endpoints.push(endpoint);
  const { topic, subscription } = await fixture.subscribed({
    pushEndpoint: endpoint.url,
    ackDeadlineSeconds: 300,
    ...options,
  });
  return { endpoint, topic, subscription, counters: () => fixture.server.counters(subscription.name) };
}

test('a published message is pushed in the wrapped body, with its id and time in both spellings', async () => {
  const { endpoint, topic, subscription, counters } = await pushed();
  const messageId = await topic.publishMessage({ data: Buffer.from('hello'), attributes: { a: '1' } });
  await fixture.drained(subscription.name);
  const [body] = endpoint.bodies();
  expect(body).toEqual({
    message: {
      data: Buffer.from('hello').toString('base64'),
      attributes: { a: '1' },
      messageId,
      message_id: messageId,
      publishTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/) as string,
      publish_time: body?.message.publishTime,
    },
    subscription: subscription.name,
  });
  expect(endpoint.pushes[0]?.headers['content-type']).toBe('application/json');
  expect(counters()).toMatchObject({ matched: 1, delivered: 1, acked: 1, nacked: 0, backlog: 0 });
});

test('a message with attributes alone is pushed with empty data', async () => {
  const { endpoint, topic, subscription } = await pushed();
  await topic.publishMessage({ attributes: { kind: 'tombstone' } });
  await fixture.drained(subscription.name);
  expect(endpoint.bodies()[0]?.message).toMatchObject({ data: '', attributes: { kind: 'tombstone' } });
});

test('a message of the largest size is pushed whole', async () => {
  const { endpoint, topic, subscription } = await pushed(undefined, { ackDeadlineSeconds: 600 });
  const data = Buffer.alloc(10_000_000, 'abc');
  await topic.publishMessage({ data });
  await fixture.drained(subscription.name);
  expect(Buffer.from(endpoint.bodies()[0]?.message.data ?? '', 'base64').equals(data)).toBe(true);
});

test.each([
  [200, true],
  [201, true],
  [202, true],
  [204, true],
  [203, false],
  [205, false],
  [301, false],
  [400, false],
  [404, false],
  [429, false],
  [500, false],
  [503, false],
])('status %i: acknowledges is %s', async (status, acknowledges) => {
  const { endpoint, topic, subscription, counters } = await pushed((_push, index) => (index === 0 ? status : 204));
  await topic.publishMessage({ data: Buffer.from('x') });
  await fixture.drained(subscription.name);
  expect(endpoint.pushes.length).toBe(acknowledges ? 1 : 2);
  expect(counters()).toMatchObject({ acked: 1, nacked: acknowledges ? 0 : 1 });
});

test('status 102 acknowledges, whatever the endpoint would say after it', async () => {
  const { topic, subscription, counters } = await pushed((_push, _index, response) => {
    response.writeProcessing();
    return undefined;
  });
  await topic.publishMessage({ data: Buffer.from('x') });
  await fixture.drained(subscription.name);
  expect(counters()).toMatchObject({ delivered: 1, acked: 1, nacked: 0 });
});

test('a push that is not answered within the ack deadline is cut off and delivered again with the same id', async () => {
  const closed: boolean[] = [];
  const { endpoint, topic, subscription, counters } = await pushed(
    (_push, index, response) => {
      if (index > 0) return 204;
      response.on('close', () => closed.push(!response.writableEnded));
      return undefined;
    },
    { ackDeadlineSeconds: 40 },
  );
  const messageId = await topic.publishMessage({ data: Buffer.from('x') });
  await fixture.drained(subscription.name);
  const [first, second] = endpoint.pushes;
  expect(second!.at - first!.at).toBeGreaterThanOrEqual(300);
  expect(closed).toEqual([true]);
  expect(endpoint.bodies().map(({ message }) => message.messageId)).toEqual([messageId, messageId]);
  expect(endpoint.bodies()[0]?.message.publishTime).toBe(endpoint.bodies()[1]?.message.publishTime);
  expect(counters()).toMatchObject({ nacked: 1, acked: 1 });
});

test('what an endpoint had under way when it was killed is delivered to the next one on its port', async () => {
  const hanging = `require('node:http').createServer(() => {}).listen(0, '127.0.0.1', function () {
    process.stdout.write(String(this.address().port)); })`;
  const child = spawn(process.execPath, ['-e', hanging], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const { topic, subscription, counters } = await pushed(undefined, {
    pushEndpoint: `http://127.0.0.1:${port.toString()}/push`,
    ackDeadlineSeconds: 600,
  });
  const ids = await Promise.all(['a', 'b', 'c'].map((data) => topic.publishMessage({ data: Buffer.from(data) })));
  await until(() => counters().outstandingPushes === 3, 'three pushes under way');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await until(() => counters().nacked >= 3, 'the cut connections');
  expect(counters()).toMatchObject({ acked: 0, backlog: 3 });
  const second = await startPushEndpoint(undefined, Number(port.toString()));
  endpoints.push(second);
  await fixture.drained(subscription.name);
  const arrived = second.bodies().map(({ message }) => message.messageId);
  expect(arrived.toSorted()).toEqual(ids.toSorted());
});

test('the attempt is in the body only with a dead-letter policy, and goes up', async () => {
  const dead = await fixture.subscribed();
  const { endpoint, topic, subscription } = await pushed((_push, index) => (index < 2 ? 500 : 204), {
    deadLetterPolicy: { deadLetterTopic: dead.topic.name, maxDeliveryAttempts: 5 },
  });
  await topic.publishMessage({ data: Buffer.from('x') });
  await fixture.drained(subscription.name);
  expect(endpoint.bodies().map(({ deliveryAttempt }) => deliveryAttempt)).toEqual([1, 2, 3]);
  expect(fixture.server.counters(dead.subscription.name).matched).toBe(0);
});

test('after its last attempt a message goes to the dead-letter topic with where it came from', async () => {
  const deadEndpoint = await startPushEndpoint();
  endpoints.push(deadEndpoint);
  const dead = await fixture.subscribed({ pushEndpoint: deadEndpoint.url });
  const { endpoint, topic, subscription, counters } = await pushed(() => 500, {
    deadLetterPolicy: { deadLetterTopic: dead.topic.name, maxDeliveryAttempts: 5 },
    enableMessageOrdering: true,
  });
  await topic.publishMessage({ data: Buffer.from('x'), attributes: { a: '1' }, orderingKey: 'k' });
  await fixture.drained(subscription.name);
  await fixture.drained(dead.subscription.name);
  expect(endpoint.pushes.length).toBe(5);
  expect(counters()).toMatchObject({ nacked: 5, acked: 0, deadLettered: 1 });
  const [original] = endpoint.bodies();
  expect(deadEndpoint.bodies()[0]?.message).toMatchObject({
    data: Buffer.from('x').toString('base64'),
    orderingKey: 'k',
    attributes: {
      a: '1',
      CloudPubSubDeadLetterSourceDeliveryCount: '5',
      CloudPubSubDeadLetterSourceSubscription: subscription.name.split('/').at(-1),
      CloudPubSubDeadLetterSourceSubscriptionProject: 'p',
      CloudPubSubDeadLetterSourceTopicPublishTime: original?.message.publishTime,
    },
  });
});

test('a message waits for its retry policy, twice as long each time', async () => {
  const { endpoint, topic, subscription } = await pushed((_push, index) => (index < 3 ? 500 : 204), {
    retryPolicy: { minimumBackoff: { seconds: 20 }, maximumBackoff: { seconds: 40 } },
  });
  await topic.publishMessage({ data: Buffer.from('x') });
  await fixture.drained(subscription.name);
  const gaps = endpoint.pushes.slice(1).map(({ at }, index) => at - endpoint.pushes[index]!.at);
  // The exact times are the state's own tests; here only that nothing comes early, and that the wait grows.
  expect(gaps.map((gap, index) => gap >= [150, 350, 350][index]!)).toEqual([true, true, true]);
});

test('of an ordering key one push is out at a time, and a refused one comes back before the next', async () => {
  let outstanding = 0;
  let most = 0;
  const { endpoint, topic, subscription } = await pushed(
    async (_push, index) => {
      outstanding += 1;
      most = Math.max(most, outstanding);
      await new Promise((resolve) => setTimeout(resolve, 3));
      outstanding -= 1;
      return index === 1 || index === 2 ? 500 : 204;
    },
    { enableMessageOrdering: true },
  );
  const ordered = fixture.client.topic(topic.name, { messageOrdering: true });
  await Promise.all(
    ['1', '2', '3', '4'].map((data) => ordered.publishMessage({ data: Buffer.from(data), orderingKey: 'k' })),
  );
  await fixture.drained(subscription.name);
  const bodies = endpoint.bodies();
  expect(bodies.map(({ message }) => Buffer.from(message.data, 'base64').toString())).toEqual([
    '1',
    '2',
    '2',
    '2',
    '3',
    '4',
  ]);
  expect(new Set(bodies.map(({ message }) => message.orderingKey))).toEqual(new Set(['k']));
  expect(most).toBe(1);
});

test('pushes start slowly and never exceed the cap', async () => {
  const capped = await startFixture({ pushConcurrency: 8 });
  let outstanding = 0;
  const levels: number[] = [];
  const endpoint = await startPushEndpoint(async () => {
    outstanding += 1;
    levels.push(outstanding);
    await new Promise((resolve) => setTimeout(resolve, 10));
    outstanding -= 1;
    return 204;
  });
  const { topic, subscription } = await capped.subscribed({ pushEndpoint: endpoint.url });
  await Promise.all(Array.from({ length: 60 }, () => topic.publishMessage({ data: Buffer.from('x') })));
  await capped.drained(subscription.name);
  expect(Math.max(...levels.slice(0, 4))).toBeLessThanOrEqual(4);
  expect(Math.max(...levels)).toBe(8);
  await capped.close();
  await endpoint.close();
});

test('without a wrapper the body is the data, and metadata and attributes are headers', async () => {
  const endpoint = await startPushEndpoint();
  endpoints.push(endpoint);
  const { topic, subscription } = await fixture.subscribed({
    pushConfig: { pushEndpoint: endpoint.url, noWrapper: { writeMetadata: true } },
  });
  const messageId = await topic.publishMessage({
    data: Buffer.from([0, 1, 255]),
    attributes: { kind: 'x', 'content-length': '7', 'not a header': 'y' },
  });
  await fixture.drained(subscription.name);
  const [push] = endpoint.pushes;
  expect(push?.raw).toEqual(Buffer.from([0, 1, 255]));
  expect(push?.headers).toMatchObject({
    kind: 'x',
    'content-length': '3',
    'x-goog-pubsub-message-id': messageId,
    'x-goog-pubsub-subscription-name': subscription.name,
  });
});

test('a subscription that stops pushing hands what was under way to whoever pulls', async () => {
  const { topic, subscription, counters } = await pushed(() => undefined, { ackDeadlineSeconds: 600 });
  await topic.publishMessage({ data: Buffer.from('x') });
  await until(() => counters().outstandingPushes === 1, 'the push');
  await subscription.modifyPushConfig({ pushEndpoint: '' });
  expect(counters()).toMatchObject({ outstandingPushes: 0, nacked: 1, backlog: 1 });
  const received = new Promise<string>((resolve) => {
    subscription.on('message', (message: { data: Buffer; ack(): void }) => {
      message.ack();
      resolve(message.data.toString());
    });
  });
  expect(await received).toBe('x');
  await fixture.drained(subscription.name);
  await subscription.close();
});
