import type { Message } from '@google-cloud/pubsub';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, startFixture, startPuller, type Fixture } from '../fixture.ts';
import { until } from '../push-endpoint.ts';

/** Leases and backoffs run twenty times faster: an ack deadline of 10 s is half a second. */
let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture({ timeScale: 20 });
});

afterAll(() => fixture.close());

const data = (text: string) => ({ data: Buffer.from(text) });
const texts = (messages: readonly Message[]) => messages.map((message) => message.data.toString());

/** One unary pull that does not wait. */
async function pullNow(subscription: string, maxMessages = 100) {
  const [{ receivedMessages }] = await fixture.subscriber.pull({ subscription, maxMessages, returnImmediately: true });
  return receivedMessages ?? [];
}

test('the official client pulls, and what it acknowledges is gone', async () => {
  const { topic, subscription } = await fixture.subscribed();
  const puller = startPuller(subscription);
  const ids = await Promise.all(['a', 'b', 'c'].map((text) => topic.publishMessage(data(text))));
  await fixture.drained(subscription.name);
  expect(puller.messages.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(fixture.server.counters(subscription.name)).toMatchObject({ delivered: 3, acked: 3, backlog: 0 });
  await puller.close();
});

test('publish times have microseconds and rise in the order of publishing', async () => {
  const { topic, subscription } = await fixture.subscribed();
  for (let index = 0; index < 50; index += 1) await topic.publishMessage(data(String(index)));
  const messages = await pullNow(subscription.name);
  const micros = messages.map(
    ({ message }) => Number(message?.publishTime?.seconds) * 1e6 + Number(message?.publishTime?.nanos) / 1e3,
  );
  expect(micros).toEqual([...new Set(micros)].toSorted((left, right) => left - right));
  expect(messages.map(({ message }) => Number(message?.messageId))).toEqual(
    messages.map((_, index) => Number(messages[0]?.message?.messageId) + index),
  );
});

test('a stream has no more outstanding than its flow control allows', async () => {
  const { topic, subscription } = await fixture.subscribed();
  await Promise.all(Array.from({ length: 20 }, (_, index) => topic.publishMessage(data(String(index)))));
  const call = fixture.subscriber.streamingPull();
  const ackIds: string[] = [];
  call.on('error', () => undefined);
  call.on('data', (response: { receivedMessages: { ackId: string }[] }) => {
    ackIds.push(...response.receivedMessages.map(({ ackId }) => ackId));
  });
  call.write({ subscription: subscription.name, streamAckDeadlineSeconds: 600, maxOutstandingMessages: 3 });
  await until(() => ackIds.length === 3, 'three messages');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ackIds.length).toBe(3);
  await fixture.subscriber.acknowledge({ subscription: subscription.name, ackIds: ackIds.slice(0, 2) });
  await until(() => ackIds.length === 5, 'two more');
  call.write({ ackIds: ackIds.slice(2) });
  await until(() => ackIds.length === 8, 'three more');
  call.cancel();
});

test('a keep-alive of a stream is answered', async () => {
  const { subscription } = await fixture.subscribed();
  const call = fixture.subscriber.streamingPull();
  let responses = 0;
  call.on('error', () => undefined);
  call.on('data', () => (responses += 1));
  call.write({ subscription: subscription.name, streamAckDeadlineSeconds: 10, protocolVersion: 1 });
  await until(() => responses === 1, 'the first response');
  call.write({});
  await until(() => responses === 2, 'the answer to the keep-alive');
  call.cancel();
});

test('what a closed stream left unacknowledged comes back when its lease is over', async () => {
  const { topic, subscription } = await fixture.subscribed();
  await topic.publishMessage(data('x'));
  const call = fixture.subscriber.streamingPull();
  const got = new Promise((resolve) => call.once('data', () => call.once('data', resolve)));
  call.on('error', () => undefined);
  call.write({ subscription: subscription.name, streamAckDeadlineSeconds: 10 });
  await got;
  call.cancel();
  expect(await pullNow(subscription.name)).toEqual([]);
  const puller = startPuller(subscription);
  await fixture.drained(subscription.name);
  expect(texts(puller.messages)).toEqual(['x']);
  expect(fixture.server.counters(subscription.name)).toMatchObject({ expired: 1, delivered: 2 });
  await puller.close();
});

test('a lease ends at the ack deadline unless it is extended, and at once by a nack', async () => {
  const { topic, subscription } = await fixture.subscribed();
  await topic.publishMessage(data('x'));
  const [first] = await pullNow(subscription.name);
  const ackIds = [first?.ackId ?? ''];
  await fixture.subscriber.modifyAckDeadline({ subscription: subscription.name, ackIds, ackDeadlineSeconds: 60 });
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(await pullNow(subscription.name)).toEqual([]);
  await fixture.subscriber.modifyAckDeadline({ subscription: subscription.name, ackIds, ackDeadlineSeconds: 0 });
  const [second] = await pullNow(subscription.name);
  expect(second?.message?.messageId).toBe(first?.message?.messageId);
  expect(second?.ackId).not.toBe(first?.ackId);
  await until(() => fixture.server.counters(subscription.name).expired === 1, 'the end of the second lease');
  expect(
    await codeOf(
      fixture.subscriber.modifyAckDeadline({ subscription: subscription.name, ackIds, ackDeadlineSeconds: 601 }),
    ),
  ).toBe(3);
});

test('a late acknowledgement still counts', async () => {
  const { topic, subscription } = await fixture.subscribed();
  await topic.publishMessage(data('x'));
  const [first] = await pullNow(subscription.name);
  await until(() => fixture.server.counters(subscription.name).expired === 1, 'the end of the lease');
  await fixture.subscriber.acknowledge({ subscription: subscription.name, ackIds: [first?.ackId ?? ''] });
  expect(fixture.server.counters(subscription.name).backlog).toBe(0);
  expect(await pullNow(subscription.name)).toEqual([]);
});

test('a pull that finds nothing waits for the first message', async () => {
  const { topic, subscription } = await fixture.subscribed();
  const waiting = fixture.subscriber.pull({ subscription: subscription.name, maxMessages: 10 });
  await new Promise((resolve) => setTimeout(resolve, 30));
  await topic.publishMessage(data('x'));
  const [{ receivedMessages }] = await waiting;
  expect(receivedMessages?.length).toBe(1);
});

test('filters decide what a subscription gets', async () => {
  const { topic, subscription } = await fixture.subscribed({
    filter: 'attributes.kind = "a" OR hasPrefix(attributes.kind, "b")',
  });
  for (const kind of ['a', 'ab', 'b', 'bc', 'c']) await topic.publishMessage({ attributes: { kind } });
  await topic.publishMessage(data('no kind'));
  const kinds = (await pullNow(subscription.name)).map(({ message }) => message?.attributes?.kind);
  expect(kinds).toEqual(['a', 'b', 'bc']);
  expect(fixture.server.counters(subscription.name)).toMatchObject({ matched: 3, filtered: 3 });
});

test('ordered messages come one by one through the official client, a nacked one before its successors', async () => {
  const { topic, subscription } = await fixture.subscribed({ enableMessageOrdering: true });
  const ordered = fixture.client.topic(topic.name, { messageOrdering: true });
  const texts4 = ['1', '2', '3', '4'];
  await Promise.all(texts4.map((text) => ordered.publishMessage({ ...data(text), orderingKey: 'k' })));
  const puller = startPuller(subscription, (message, index) => {
    if (index === 0) message.nack();
    else message.ack();
  });
  await fixture.drained(subscription.name);
  expect(texts(puller.messages)).toEqual(['1', '1', '2', '3', '4']);
  await puller.close();
});

test('the delivery attempt shows with a dead-letter policy, and the message goes there after the last', async () => {
  const dead = await fixture.subscribed();
  const { topic, subscription } = await fixture.subscribed({
    deadLetterPolicy: { deadLetterTopic: dead.topic.name, maxDeliveryAttempts: 5 },
  });
  await topic.publishMessage(data('x'));
  const puller = startPuller(subscription, (message) => {
    message.nack();
  });
  await fixture.drained(subscription.name);
  expect(puller.messages.map(({ deliveryAttempt }) => deliveryAttempt)).toEqual([1, 2, 3, 4, 5]);
  const [letter] = await pullNow(dead.subscription.name);
  expect(letter?.message?.attributes).toMatchObject({ CloudPubSubDeadLetterSourceDeliveryCount: '5' });
  await puller.close();
});

test('a dead letter whose topic is gone stays with its subscription', async () => {
  const dead = await fixture.topic();
  const { topic, subscription } = await fixture.subscribed({
    deadLetterPolicy: { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 },
  });
  await dead.delete();
  await topic.publishMessage(data('x'));
  const puller = startPuller(subscription, (message) => {
    if (message.deliveryAttempt < 7) message.nack();
    else message.ack();
  });
  await fixture.drained(subscription.name);
  expect(puller.messages.length).toBe(7);
  expect(fixture.server.counters(subscription.name)).toMatchObject({ acked: 1, deadLettered: 0 });
  await puller.close();
});

test('a seek to a time brings back what is retained from then on, and acknowledges what is older', async () => {
  const { topic, subscription } = await fixture.subscribed({ retainAckedMessages: true });
  await topic.publishMessage(data('1'));
  await topic.publishMessage(data('2'));
  await new Promise((resolve) => setTimeout(resolve, 5));
  const between = new Date();
  await topic.publishMessage(data('3'));
  await topic.publishMessage(data('4'));
  const before = await pullNow(subscription.name);
  const ackIds = before.map(({ ackId }) => ackId ?? '');
  await fixture.subscriber.acknowledge({ subscription: subscription.name, ackIds: ackIds.slice(1) });
  expect(fixture.server.counters(subscription.name)).toMatchObject({ backlog: 1, retained: 3 });
  // Subscription.seek of the official client 6.3.0 writes milliseconds where nanoseconds belong: seek by hand.
  const millis = between.getTime();
  const time = { seconds: Math.floor(millis / 1000), nanos: (millis % 1000) * 1e6 };
  await fixture.subscriber.seek({ subscription: subscription.name, time });
  // The first delivery's acknowledgement belongs to the time before the seek.
  await fixture.subscriber.acknowledge({ subscription: subscription.name, ackIds: ackIds.slice(2) });
  const replayed = await pullNow(subscription.name);
  expect(replayed.map(({ message }) => Buffer.from(message?.data ?? '').toString())).toEqual(['3', '4']);
  await subscription.seek(new Date(0));
  expect((await pullNow(subscription.name)).length).toBe(4);
  await subscription.seek(new Date(Date.now() + 60_000));
  expect(fixture.server.counters(subscription.name)).toMatchObject({ backlog: 0, retained: 4 });
});

test('without retained messages a seek brings back nothing that was acknowledged', async () => {
  const { topic, subscription } = await fixture.subscribed();
  await topic.publishMessage(data('1'));
  const [first] = await pullNow(subscription.name);
  await fixture.subscriber.acknowledge({ subscription: subscription.name, ackIds: [first?.ackId ?? ''] });
  await subscription.seek(new Date(0));
  expect(await pullNow(subscription.name)).toEqual([]);
});

test('exactly-once delivery refuses an acknowledgement whose lease is over', async () => {
  const { topic, subscription } = await fixture.subscribed({ enableExactlyOnceDelivery: true });
  await topic.publishMessage(data('x'));
  const [first] = await pullNow(subscription.name);
  await until(() => fixture.server.counters(subscription.name).expired === 1, 'the end of the lease');
  const late = { subscription: subscription.name, ackIds: [first?.ackId ?? ''] };
  await expect(fixture.subscriber.acknowledge(late)).rejects.toMatchObject({
    code: 9,
    errorInfoMetadata: { [first?.ackId ?? '']: 'PERMANENT_FAILURE_INVALID_ACK_ID' },
  });
  const results: string[] = [];
  subscription.on('message', (message: Message) => {
    message.ackWithResponse().then(
      (response) => results.push(response),
      (error: unknown) => results.push(String(error)),
    );
  });
  await until(() => results.length === 1, 'the confirmed acknowledgement');
  expect(results).toEqual(['SUCCESS']);
  expect(fixture.server.counters(subscription.name).backlog).toBe(0);
  await subscription.close();
});

test('deleting a subscription ends its streams with NOT_FOUND', async () => {
  const { subscription } = await fixture.subscribed();
  const call = fixture.subscriber.streamingPull();
  const error = new Promise<{ code: number }>((resolve) => call.on('error', resolve));
  const opened = new Promise((resolve) => call.on('data', resolve));
  call.write({ subscription: subscription.name, streamAckDeadlineSeconds: 10 });
  await opened;
  await subscription.delete();
  expect((await error).code).toBe(5);
});
