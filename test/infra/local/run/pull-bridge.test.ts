import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPullBridge } from '../../../../infra/local/run/pull-bridge.ts';
import { startFixture, type Fixture } from '../servers/pubsub/fixture.ts';
import { startPushEndpoint, until, type PushHandler } from '../servers/pubsub/push-endpoint.ts';

let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture();
});

afterAll(() => fixture.close());

const data = (text: string) => ({ data: Buffer.from(text) });

async function bridged(handle?: PushHandler, options: Parameters<Fixture['subscribed']>[0] = {}) {
  const endpoint = await startPushEndpoint(handle);
  const { topic, subscription } = await fixture.subscribed(options);
  const stop = new AbortController();
  const bridge = await startPullBridge({
    pubsubHost: fixture.server.address,
    projectId: 'p',
    subscription: subscription.name,
    endpoint: endpoint.url,
    concurrency: 4,
    signal: stop.signal,
  });
  const close = async () => {
    await bridge.close();
    await endpoint.close();
  };
  return { endpoint, topic, subscription, bridge, stop, close };
}

test('the bridge posts the body that a push would have, and the status acknowledges', async () => {
  const dead = await fixture.topic();
  const { endpoint, topic, subscription, bridge, close } = await bridged(undefined, {
    enableMessageOrdering: true,
    deadLetterPolicy: { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 },
  });
  const pushed = await startPushEndpoint();
  await topic.createSubscription('pushed-beside', {
    pushEndpoint: pushed.url,
    enableMessageOrdering: true,
    deadLetterPolicy: { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 },
  });
  const ordered = fixture.client.topic(topic.name, { messageOrdering: true });
  await ordered.publishMessage({ ...data('x'), attributes: { a: '1' }, orderingKey: 'k' });
  await fixture.drained(subscription.name);
  await pushed.received(1);
  const [bridgedBody] = endpoint.bodies();
  const [pushedBody] = pushed.bodies();
  expect({ ...bridgedBody, subscription: '' }).toEqual({ ...pushedBody, subscription: '' });
  expect(bridgedBody?.subscription).toBe(subscription.name);
  expect(bridge.counters).toEqual({ delivered: 1, acked: 1, nacked: 0 });
  await close();
  await pushed.close();
});

test('a refused message is nacked after a pause and posted again', async () => {
  const { endpoint, topic, subscription, bridge, close } = await bridged((_push, index) => (index === 0 ? 203 : 202));
  await topic.publishMessage(data('x'));
  await fixture.drained(subscription.name);
  expect(bridge.counters).toEqual({ delivered: 2, acked: 1, nacked: 1 });
  expect(endpoint.pushes[1]!.at - endpoint.pushes[0]!.at).toBeGreaterThanOrEqual(95);
  await close();
});

test('no more posts are under way than the concurrency allows', async () => {
  let underWay = 0;
  let most = 0;
  const { topic, subscription, close } = await bridged(async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 5));
    underWay -= 1;
    return 204;
  });
  await Promise.all(Array.from({ length: 30 }, (_, index) => topic.publishMessage(data(String(index)))));
  await fixture.drained(subscription.name);
  expect(most).toBe(4);
  await close();
});

test('when the bridge is stopped, what was under way goes back to the subscription', async () => {
  const { endpoint, topic, subscription, bridge, stop, close } = await bridged(() => undefined);
  await topic.publishMessage(data('x'));
  await endpoint.received(1);
  stop.abort();
  await close();
  expect(bridge.counters).toEqual({ delivered: 1, acked: 0, nacked: 1 });
  await until(() => fixture.server.counters(subscription.name).nacked === 1, 'the nack');
  expect(fixture.server.counters(subscription.name)).toMatchObject({ backlog: 1, acked: 0 });
});

test('a missing subscription is an error at once', async () => {
  await expect(
    startPullBridge({
      pubsubHost: fixture.server.address,
      projectId: 'p',
      subscription: 'missing',
      endpoint: 'http://127.0.0.1:1/',
      concurrency: 1,
    }),
  ).rejects.toMatchObject({ code: 5 });
});

test('a stream that breaks for good is reported', async () => {
  const { subscription } = await fixture.subscribed();
  const errors: Error[] = [];
  const bridge = await startPullBridge({
    pubsubHost: fixture.server.address,
    projectId: 'p',
    subscription: subscription.name,
    endpoint: 'http://127.0.0.1:1/',
    concurrency: 1,
    onError: (error) => errors.push(error),
  });
  await subscription.delete();
  await until(() => errors.length > 0, 'the report');
  expect(errors[0]).toMatchObject({ name: 'PullBridgeError', cause: { code: 5 } });
  await bridge.close();
});
