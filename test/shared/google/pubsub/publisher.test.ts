import { getEventListeners } from 'node:events';
import { PubSub } from '@google-cloud/pubsub';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type LocalPubSub, startPubSubServer } from '../../../../infra/local/servers/pubsub/server.ts';
import { PullRequest, SubscriberDefinition } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { blank, unary } from '../../../../infra/local/cloud/unary.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { createPublisher, type OpenablePublisher } from '../../../../shared/google/pubsub/publisher.ts';
import type { StatusName } from '../../../../shared/model/status.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { connectTo, type ClientOf } from '../../../../infra/local/servers/rpc/client.ts';
import { eventually } from '../../../support/eventually.ts';

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

const message = (text: string, attributes: Record<string, string> = {}) => ({ data: Buffer.from(text), attributes });

const open = (topic = TOPIC, shutdownTimeoutMillis = 10_000) =>
  createPublisher({ topic, shutdownTimeoutMillis }, systemClock);

const refusal = (code: StatusName) =>
  ({ method: 'Publish', effect: { kind: 'refuse', status: { code, message: 'injected' } } }) as const;

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

test('a publish resolves when the topic holds the message, with its data and attributes', async () => {
  const topic = open();
  await topic.publish(message('one', { 'dlq-reason': 'rejected', origin: 'é' }), signal);
  expect(await pulled()).toEqual([{ text: 'one', attributes: { 'dlq-reason': 'rejected', origin: 'é' } }]);
  await topic.close();
});

test('what a message says arrives as it is, where the client puts the project in the place of its own token', async () => {
  const topic = open();
  const said = '{{projectId}} ${project} {{projectId}}';
  await topic.publish(message(said, { origin: said }), signal);
  expect(await pulled()).toEqual([{ text: said, attributes: { origin: said } }]);
  await topic.close();
});

test('a topic of the function’s own project is named by its id alone', async () => {
  vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'letters');
  const topic = open('dlq');
  await topic.publish(message('by id'), signal);
  expect((await pulled()).map(({ text }) => text)).toEqual(['by id']);
  await topic.close();
});

test('a message that comes after the close is refused, and opens no client anew', async () => {
  const topic = open();
  await topic.publish(message('before'), signal);
  await topic.close();
  await expect(topic.publish(message('after'), signal)).rejects.toThrow('closed');
  expect((await pulled()).map(({ text }) => text)).toEqual(['before']);
});

test('messages that are due together are each confirmed', async () => {
  const topic = open();
  const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
  await Promise.all(texts.map((text) => topic.publish(message(text), signal)));
  expect((await pulled()).map(({ text }) => text).toSorted()).toEqual(texts.toSorted());
  await topic.close();
});

test('a topic that does not exist rejects the publish with the status of the service', async () => {
  const topic = open('projects/letters/topics/missing');
  await expect(topic.publish(message('lost'), signal)).rejects.toMatchObject({ code: 5 });
  await topic.close();
});

test('a publish that the service refuses rejects, and the next message is published', async () => {
  const topic = open();
  server.faults.add(refusal('PERMISSION_DENIED'));
  await expect(topic.publish(message('refused'), signal)).rejects.toMatchObject({ code: 7 });
  await topic.publish(message('taken'), signal);
  expect((await pulled()).map(({ text }) => text)).toEqual(['taken']);
  await topic.close();
});

test('a wait that aborts rejects with its reason at once, though the service does not answer', async () => {
  const topic = open();
  const fault = server.faults.add({ method: 'Publish', effect: { kind: 'delay', delayMillis: 60 } });
  const controller = new AbortController();
  const reason = new Error('the invocation ended');
  const publishing = topic.publish(message('late'), controller.signal);
  await eventually(() => {
    expect(fault.hits).toBe(1);
  });
  controller.abort(reason);
  await expect(publishing).rejects.toBe(reason);
  // The publish itself goes on; a message that arrives late is an allowed duplicate.
  await topic.close();
  expect((await pulled()).map(({ text }) => text)).toEqual(['late']);
});

test('a wait that was over before it began publishes nothing', async () => {
  const topic = open();
  const reason = new Error('before');
  await expect(topic.publish(message('never'), AbortSignal.abort(reason))).rejects.toBe(reason);
  await topic.close();
  expect(await pulled()).toEqual([]);
});

test('close sends what is queued', async () => {
  const topic = open();
  await topic.publish(message('first'), signal);
  const queued = topic.publish(message('queued'), signal);
  await topic.close();
  await queued;
  expect((await pulled()).map(({ text }) => text).toSorted()).toEqual(['first', 'queued']);
});

test('close waits for the message that is on its way, though nobody else does', async () => {
  const topic = open();
  const fault = server.faults.add({ method: 'Publish', effect: { kind: 'delay', delayMillis: 60 } });
  const publishing = topic.publish(message('on its way'), signal);
  await eventually(() => {
    expect(fault.hits).toBe(1);
  });
  await topic.close();
  await publishing;
  expect((await pulled()).map(({ text }) => text)).toEqual(['on its way']);
});

test('a message that is refused while the topic closes does not keep the client open', async () => {
  const topic = open();
  server.faults.add(refusal('PERMISSION_DENIED'));
  const publishing = expect(topic.publish(message('refused'), signal)).rejects.toMatchObject({ code: 7 });
  await topic.close();
  await publishing;
});

test('close gives up after shutdownTimeout, says so, and the client is closed all the same', async () => {
  const clock = new ManualClock();
  const topic = createPublisher({ topic: TOPIC, shutdownTimeoutMillis: 500 }, clock);
  const fault = server.faults.add({ method: 'Publish', effect: { kind: 'delay', delayMillis: 60_000 } });
  const controller = new AbortController();
  const publishing = expect(topic.publish(message('slow'), controller.signal)).rejects.toThrow('the invocation ended');
  await eventually(() => {
    expect(fault.hits).toBe(1);
  });
  const closing = expect(topic.close()).rejects.toThrow('shutdownTimeout of 500 ms was used up');
  await eventually(() => {
    expect(clock.pending).toBe(1);
  });
  await clock.advance(500);
  await closing;
  controller.abort(new Error('the invocation ended'));
  await publishing;
});

test('a topic that was never used opens no client, and closing it is nothing', async () => {
  const clock = new ManualClock();
  await createPublisher({ topic: TOPIC, shutdownTimeoutMillis: 500 }, clock).close();
  expect(clock.pending).toBe(0);
});

test('one that is opened connects before its first message, and rejects where there are no credentials', async () => {
  const topic = open();
  await topic.open();
  await topic.close();
  vi.stubEnv('PUBSUB_EMULATOR_HOST', undefined);
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nowhere/key.json');
  await expect(open().open()).rejects.toThrow();
  vi.unstubAllEnvs();
  vi.stubEnv('PUBSUB_EMULATOR_HOST', server.address);
});

test('messages of one signal leave no listener on it', async () => {
  const topic = open();
  const controller = new AbortController();
  await Promise.all(Array.from({ length: 50 }, (_, at) => topic.publish(message(String(at)), controller.signal)));
  // One for all that ever waited on it, whatever their number.
  expect(getEventListeners(controller.signal, 'abort').length).toBeLessThanOrEqual(1);
  await topic.close();
});

describe('after a message of an ordering key failed', () => {
  let publisher: OpenablePublisher;

  beforeEach(() => {
    publisher = createPublisher({ topic: TOPIC, isOrdered: true, shutdownTimeoutMillis: 10_000 }, systemClock);
  });

  afterEach(async () => {
    await publisher.close();
  });

  const send = (text: string, orderingKey = ''): Promise<string> =>
    publisher.publish({ ...message(text), orderingKey }).then(
      () => 'published',
      (error: unknown) => String(error),
    );

  test.each(['INVALID_ARGUMENT', 'PERMISSION_DENIED', 'NOT_FOUND'] as const)(
    'with %s, none of that key is published any more, and others are',
    async (status) => {
      server.faults.add(refusal(status));
      expect(await send('1', 'row-1')).toContain(status);
      // Long after the client has emptied its queue of the key, and forgotten the failure.
      for (const text of ['2', '3']) {
        const said = await send(text, 'row-1');
        expect(said).toContain('an earlier message of its ordering key failed');
        expect(said).toContain(status);
      }
      expect(await send('1', 'row-2')).toBe('published');
      expect(await send('no key')).toBe('published');
    },
  );

  test('those that were on their way with it or are sent at the moment of its failure are not published either', async () => {
    server.faults.add(refusal('INVALID_ARGUMENT'));
    const first = send('1', 'row-1');
    const beside = send('2', 'row-1');
    const during: Promise<string>[] = [];
    // In every step of the event loop around the failure.
    let isOver = false;
    const next = (): void => {
      during.push(send(String(during.length), 'row-1'));
      if (!isOver) setImmediate(next);
    };
    setImmediate(next);
    expect(await first).toContain('INVALID_ARGUMENT');
    during.push(send('last', 'row-1'));
    isOver = true;
    expect(await beside).toContain('INVALID_ARGUMENT');
    const said = await Promise.all(during);
    expect(said.length).toBeGreaterThan(1);
    expect(said.filter((text) => text === 'published')).toEqual([]);
  });
});
