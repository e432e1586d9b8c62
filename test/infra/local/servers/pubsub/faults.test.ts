import { afterAll, beforeAll, expect, test } from 'vitest';
import { FaultBook } from '../../../../../infra/local/servers/pubsub/faults.ts';
import { codeOf, startFixture, type Fixture } from './fixture.ts';
import { startPushEndpoint } from './push-endpoint.ts';

let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture({ timeScale: 100, random: () => 0.99 });
});

afterAll(() => fixture.close());

const data = (text: string) => ({ data: Buffer.from(text) });

test('a rule strikes every n-th time it applies, as often as it says, until it is removed', () => {
  const faults = new FaultBook();
  const fault = faults.add({ kind: 'duplicate', subscription: 's', every: 2, times: 2 });
  const strikes = () => faults.strike('duplicate', { subscription: 's' }) !== undefined;
  expect([strikes(), strikes(), strikes(), strikes(), strikes(), strikes()]).toEqual([
    false,
    true,
    false,
    true,
    false,
    false,
  ]);
  expect(faults.strike('duplicate', { subscription: 'other' })).toBeUndefined();
  expect(fault.hits).toBe(2);
  const endless = faults.add({ kind: 'duplicate' });
  expect(faults.strike('duplicate', { subscription: 'other' })).toBeDefined();
  endless.remove();
  expect(strikes()).toBe(false);
});

test('a method is refused with the status that a rule names', async () => {
  const topic = await fixture.topic();
  const fault = fixture.server.faults.add({
    kind: 'error',
    method: 'getTopic',
    status: 'PERMISSION_DENIED',
    times: 1,
    delayMillis: 20,
  });
  const before = Date.now();
  expect(await codeOf(topic.getMetadata())).toBe(7);
  expect(Date.now() - before).toBeGreaterThanOrEqual(19);
  expect(await codeOf(topic.getMetadata())).toBe(-1);
  expect(fault.hits).toBe(1);
});

test('a publisher whose answer is dropped publishes again, and subscribers get both copies with their own ids', async () => {
  const { topic, subscription } = await fixture.subscribed();
  const fault = fixture.server.faults.add({ kind: 'drop-publish-answer', topic: topic.name, times: 1 });
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
  const fault = fixture.server.faults.add({ kind: 'duplicate', subscription: subscription.name, every: 2, times: 1 });
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
  const fault = fixture.server.faults.add({ kind: 'reorder', subscription: subscription.name, span: 5 });
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
  fixture.server.faults.add({ kind: 'delay-push', subscription: subscription.name, delayMillis: 80, times: 1 });
  const before = Date.now();
  await topic.publishMessage(data('x'));
  await fixture.drained(subscription.name);
  expect(endpoint.pushes[0]!.at - before).toBeGreaterThanOrEqual(79);
  await endpoint.close();
});

test('a push that is held back past its deadline is given up unsent and delivered again', async () => {
  const endpoint = await startPushEndpoint();
  const { topic, subscription } = await fixture.subscribed({ pushEndpoint: endpoint.url, ackDeadlineSeconds: 100 });
  fixture.server.faults.add({ kind: 'delay-push', subscription: subscription.name, delayMillis: 10_000, times: 1 });
  await topic.publishMessage(data('x'));
  await fixture.drained(subscription.name);
  expect(endpoint.pushes.length).toBe(1);
  expect(fixture.server.counters(subscription.name)).toMatchObject({ delivered: 2, nacked: 1, acked: 1 });
  await endpoint.close();
});

test('a call under a delay ends when the server closes', async () => {
  const other = await startFixture();
  const topic = await other.topic();
  const fault = other.server.faults.add({ kind: 'delay', method: 'publish', delayMillis: 60_000 });
  const publishing = other.publisher.publish({ topic: topic.name, messages: [data('x')] }, { retry: null });
  const failed = codeOf(publishing);
  while (fault.hits === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  await other.server.close();
  expect(await failed).toBeGreaterThan(0);
  await other.close();
});
