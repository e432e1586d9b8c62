import { PubSub } from '@google-cloud/pubsub';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type LocalPubSub, startPubSubServer } from '../../../../infra/local/servers/pubsub/server.ts';
import { PullRequest, SubscriberDefinition } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { blank, unary } from '../../../../infra/local/cloud/unary.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { createDeadLetterTopic } from '../../../../shared/google/pubsub/dead-letter-topic.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { connectTo, type ClientOf } from '../../../../infra/local/servers/rpc/client.ts';

const TOPIC = 'projects/letters/topics/dlq';
const SUBSCRIPTION = 'projects/letters/subscriptions/reader';
const signal = new AbortController().signal;

let server: LocalPubSub;
let subscriber: ClientOf<SubscriberDefinition>;

beforeAll(async () => {
  server = await startPubSubServer({ timeScale: 100 });
  // The adapter finds the server as it would in production: by the variable that the official client reads.
  vi.stubEnv('PUBSUB_EMULATOR_HOST', server.address);
  const client = new PubSub({ projectId: 'letters' });
  const [topic] = await client.createTopic(TOPIC);
  await topic.createSubscription(SUBSCRIPTION);
  await client.close();
  subscriber = connectTo(SubscriberDefinition, server.address);
});

afterEach(async () => {
  await pulled();
});

afterAll(async () => {
  subscriber.close();
  await server.close();
  vi.unstubAllEnvs();
});

const letter = (text: string, attributes: Record<string, string> = {}) => ({ data: Buffer.from(text), attributes });

const open = (topic = TOPIC, shutdownTimeoutMillis = 10_000) =>
  createDeadLetterTopic({ topic, shutdownTimeoutMillis }, systemClock);

/** Takes and acknowledges what the topic's subscription holds now. */
async function pulled(): Promise<{ text: string; attributes: Record<string, string> }[]> {
  const { receivedMessages } = await unary(subscriber.pull.bind(subscriber), {
    ...blank(PullRequest),
    subscription: SUBSCRIPTION,
    maxMessages: 100,
    returnImmediately: true,
  });
  const ackIds = receivedMessages.map(({ ackId }) => ackId);
  if (ackIds.length > 0) {
    await unary(subscriber.acknowledge.bind(subscriber), { subscription: SUBSCRIPTION, ackIds });
  }
  return receivedMessages.map(({ message }) => ({
    text: message?.data.toString() ?? '',
    attributes: message?.attributes ?? {},
  }));
}

test('a publish resolves when the topic holds the letter, with its data and attributes', async () => {
  const topic = open();
  await topic.publish(letter('one', { 'dlq-reason': 'rejected', origin: 'é' }), signal);
  expect(await pulled()).toEqual([{ text: 'one', attributes: { 'dlq-reason': 'rejected', origin: 'é' } }]);
  await topic.close();
});

test('letters that are due together are each confirmed', async () => {
  const topic = open();
  const texts = Array.from({ length: 20 }, (_, index) => `letter ${index}`);
  await Promise.all(texts.map((text) => topic.publish(letter(text), signal)));
  expect((await pulled()).map(({ text }) => text).toSorted()).toEqual(texts.toSorted());
  await topic.close();
});

test('a topic that does not exist rejects the publish with the status of the service', async () => {
  const topic = open('projects/letters/topics/missing');
  await expect(topic.publish(letter('lost'), signal)).rejects.toMatchObject({ code: 5 });
  await topic.close();
});

test('a publish that the service refuses rejects, and the next letter is published', async () => {
  const topic = open();
  server.faults.add({
    method: 'Publish',
    effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
  });
  await expect(topic.publish(letter('refused'), signal)).rejects.toMatchObject({ code: 7 });
  await topic.publish(letter('taken'), signal);
  expect((await pulled()).map(({ text }) => text)).toEqual(['taken']);
  await topic.close();
});

test('a wait that aborts rejects with its reason at once, though the service does not answer', async () => {
  const topic = open();
  const fault = server.faults.add({ method: 'Publish', effect: { kind: 'delay', delayMillis: 60 } });
  const controller = new AbortController();
  const reason = new Error('the invocation ended');
  const publishing = topic.publish(letter('late'), controller.signal);
  await vi.waitFor(() => {
    expect(fault.hits).toBe(1);
  });
  controller.abort(reason);
  await expect(publishing).rejects.toBe(reason);
  // The publish itself goes on; a letter that arrives late is an allowed duplicate.
  await topic.close();
  expect((await pulled()).map(({ text }) => text)).toEqual(['late']);
});

test('a wait that was over before it began publishes nothing', async () => {
  const topic = open();
  const reason = new Error('before');
  await expect(topic.publish(letter('never'), AbortSignal.abort(reason))).rejects.toBe(reason);
  await topic.close();
  expect(await pulled()).toEqual([]);
});

test('close sends what is queued', async () => {
  const topic = open();
  await topic.publish(letter('first'), signal);
  const queued = topic.publish(letter('queued'), signal);
  await topic.close();
  await queued;
  expect((await pulled()).map(({ text }) => text).toSorted()).toEqual(['first', 'queued']);
});

test('close waits for the letter that is on its way, though nobody else does', async () => {
  const topic = open();
  const fault = server.faults.add({ method: 'Publish', effect: { kind: 'delay', delayMillis: 60 } });
  const publishing = topic.publish(letter('on its way'), signal);
  await vi.waitFor(() => {
    expect(fault.hits).toBe(1);
  });
  await topic.close();
  await publishing;
  expect((await pulled()).map(({ text }) => text)).toEqual(['on its way']);
});

test('a letter that is refused while the topic closes does not keep the client open', async () => {
  const topic = open();
  server.faults.add({
    method: 'Publish',
    effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'injected' } },
  });
  const publishing = expect(topic.publish(letter('refused'), signal)).rejects.toMatchObject({ code: 7 });
  await topic.close();
  await publishing;
});

test('close gives up after shutdownTimeout, says so, and the client is closed all the same', async () => {
  const clock = new ManualClock();
  const topic = createDeadLetterTopic({ topic: TOPIC, shutdownTimeoutMillis: 500 }, clock);
  const fault = server.faults.add({ method: 'Publish', effect: { kind: 'delay', delayMillis: 60_000 } });
  const controller = new AbortController();
  const publishing = expect(topic.publish(letter('slow'), controller.signal)).rejects.toThrow('the invocation ended');
  await vi.waitFor(() => {
    expect(fault.hits).toBe(1);
  });
  const closing = expect(topic.close()).rejects.toThrow('shutdownTimeout of 500 ms was used up');
  await vi.waitFor(() => {
    expect(clock.pending).toBe(1);
  });
  await clock.advance(500);
  await closing;
  controller.abort(new Error('the invocation ended'));
  await publishing;
});

test('a topic that was never used opens no client, and closing it is nothing', async () => {
  const clock = new ManualClock();
  await createDeadLetterTopic({ topic: TOPIC, shutdownTimeoutMillis: 500 }, clock).close();
  expect(clock.pending).toBe(0);
});
