import { afterAll, beforeAll, expect, test } from 'vitest';
import { onSubscription } from '../../../../../infra/local/servers/pubsub/faults.ts';
import { codeOf, startFixture, type Fixture } from './fixture.ts';
import { startPushEndpoint } from './push-endpoint.ts';

let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture({ timeScale: 100, random: () => 0.99 });
});

afterAll(() => fixture.close());

const data = (text: string) => ({ data: Buffer.from(text) });

test('a method is refused with the status that a rule names', async () => {
  const topic = await fixture.topic();
  const fault = fixture.server.faults.add({
    method: 'GetTopic',
    effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' }, delayMillis: 20 },
  });
  const before = Date.now();
  expect(await codeOf(topic.getMetadata())).toBe(7);
  expect(Date.now() - before).toBeGreaterThanOrEqual(19);
  expect(await codeOf(topic.getMetadata())).toBe(-1);
  expect(fault.hits).toBe(1);
});

test('a publisher whose answer is dropped publishes again, and subscribers get both copies with their own ids', async () => {
  const { topic, subscription } = await fixture.subscribed();
  const fault = fixture.server.faults.add({
    method: 'Publish',
    where: ({ topic: name }) => name === topic.name,
    effect: { kind: 'lose-answer', status: { code: 'UNAVAILABLE', message: 'injected' } },
  });
  const id = await topic.publishMessage(data('x'));
  expect(fault.hits).toBe(1);
  const [{ receivedMessages }] = await fixture.subscriber.pull({ subscription: subscription.name, maxMessages: 10 });
  const ids = receivedMessages?.map(({ message }) => message?.messageId) ?? [];
  expect(ids.length).toBe(2);
  expect(new Set(ids).size).toBe(2);
  expect(ids).toContain(id);
});

test('a duplicate is the same message delivered again after it was acknowledged', async () => {
  const endpoint = await startPushEndpoint();
  const { topic, subscription } = await fixture.subscribed({
    pushEndpoint: endpoint.url,
    enableMessageOrdering: true,
    ackDeadlineSeconds: 300,
  });
  const fault = fixture.server.faults.add({
    method: 'Acknowledgement',
    where: onSubscription(subscription.name),
    every: 2,
    effect: { kind: 'lose' },
  });
  const ordered = fixture.client.topic(topic.name, { messageOrdering: true });
  await Promise.all(['1', '2', '3'].map((text) => ordered.publishMessage({ ...data(text), orderingKey: 'k' })));
  await fixture.drained(subscription.name);
  const texts = endpoint.bodies().map(({ message }) => Buffer.from(message.data, 'base64').toString());
  expect(texts).toEqual(['1', '2', '2', '3']);
  const ids = endpoint.bodies().map(({ message }) => message.messageId);
  expect(ids[1]).toBe(ids[2]);
  expect(fixture.server.counters(subscription.name)).toMatchObject({ delivered: 4, acked: 3 });
  fault.remove();
  await endpoint.close();
});

test('reordering lets messages overtake others, but never within a key', async () => {
  const { topic, subscription } = await fixture.subscribed({ enableMessageOrdering: true, ackDeadlineSeconds: 600 });
  const ordered = fixture.client.topic(topic.name, { messageOrdering: true });
  const fault = fixture.server.faults.add({
    method: 'Delivery',
    where: onSubscription(subscription.name),
    times: Infinity,
    effect: { kind: 'reorder', span: 5 },
  });
  for (const text of ['a1', 'b1', 'c1', 'a2', 'b2', 'c2']) {
    await ordered.publishMessage({ ...data(text), orderingKey: text.slice(0, 1) });
  }
  const order: string[] = [];
  while (order.length < 6) {
    const [{ receivedMessages }] = await fixture.subscriber.pull({ subscription: subscription.name, maxMessages: 1 });
    const [received] = receivedMessages ?? [];
    if (!received) continue;
    order.push(Buffer.from(received.message?.data ?? '').toString());
    await fixture.subscriber.acknowledge({ subscription: subscription.name, ackIds: [received.ackId ?? ''] });
  }
  fault.remove();
  expect(order[0]).toBe('c1');
  for (const key of ['a', 'b', 'c']) expect(order.indexOf(`${key}1`)).toBeLessThan(order.indexOf(`${key}2`));
});

test('a delayed push is sent later', async () => {
  const endpoint = await startPushEndpoint();
  const { topic, subscription } = await fixture.subscribed({ pushEndpoint: endpoint.url, ackDeadlineSeconds: 300 });
  fixture.server.faults.add({
    method: 'Push',
    where: onSubscription(subscription.name),
    effect: { kind: 'delay', delayMillis: 80 },
  });
  const before = Date.now();
  await topic.publishMessage(data('x'));
  await fixture.drained(subscription.name);
  expect(endpoint.pushes[0]!.at - before).toBeGreaterThanOrEqual(79);
  await endpoint.close();
});

test('a push that is held back past its deadline is given up unsent and delivered again', async () => {
  const endpoint = await startPushEndpoint();
  const { topic, subscription } = await fixture.subscribed({ pushEndpoint: endpoint.url, ackDeadlineSeconds: 100 });
  fixture.server.faults.add({
    method: 'Push',
    where: onSubscription(subscription.name),
    effect: { kind: 'delay', delayMillis: 10_000 },
  });
  await topic.publishMessage(data('x'));
  await fixture.drained(subscription.name);
  expect(endpoint.pushes.length).toBe(1);
  expect(fixture.server.counters(subscription.name)).toMatchObject({ delivered: 2, nacked: 1, acked: 1 });
  await endpoint.close();
});

test('a call under a delay ends when the server closes', async () => {
  const other = await startFixture();
  const topic = await other.topic();
  const fault = other.server.faults.add({
    method: 'Publish',
    times: Infinity,
    effect: { kind: 'delay', delayMillis: 60_000 },
  });
  const publishing = other.publisher.publish({ topic: topic.name, messages: [data('x')] }, { retry: null });
  const failed = codeOf(publishing);
  while (fault.hits === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  await other.server.close();
  expect(await failed).toBeGreaterThan(0);
  await other.close();
});
