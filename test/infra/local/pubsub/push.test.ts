import { PubSub } from '@google-cloud/pubsub';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPubSubServer, type LocalPubSub } from '../../../../infra/local/pubsub/server.ts';
import { startPushEndpoint, until } from './push-endpoint.ts';

let server: LocalPubSub;
let client: PubSub;
let names = 0;

beforeAll(async () => {
  server = await startPubSubServer({ timeScale: 100 });
  client = new PubSub({ projectId: 'p', apiEndpoint: server.address, emulatorMode: true });
});

afterAll(async () => {
  await client.close();
  await server.close();
});

/** A topic with one push subscription to `endpoint`. */
async function pushTo(
  endpoint: string,
  options: Parameters<ReturnType<PubSub['topic']>['createSubscription']>[1] = {},
) {
  names += 1;
  const [topic] = await client.createTopic(`topic-${names}`);
  const [subscription] = await topic.createSubscription(`sub-${names}`, { pushEndpoint: endpoint, ...options });
  return { topic, subscription };
}

test('a published message is pushed in the wrapped body, with its id and time in both spellings', async () => {
  const endpoint = await startPushEndpoint();
  const { topic, subscription } = await pushTo(endpoint.url);
  const messageId = await topic.publishMessage({ data: Buffer.from('hello'), attributes: { a: '1' } });
  await endpoint.received(1);
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
  await until(() => server.counters(subscription.name).acked === 1, 'the acknowledgement');
  expect(server.counters(subscription.name)).toMatchObject({ matched: 1, delivered: 1, nacked: 0, backlog: 0 });
  await endpoint.close();
});
