import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPullBridge } from '../../infra/local/run/pull-bridge.ts';
import { startPushEndpoint, until } from '../infra/local/servers/pubsub/push-endpoint.ts';
import { findGooglePubSubEmulator, startGooglePubSubEmulator, type Emulator } from './google-pubsub-emulator.ts';
import { Bench } from './pubsub-behaviours.ts';

const google = findGooglePubSubEmulator();
const reason = 'missing' in google ? ` (skipped: ${google.missing})` : '';

describe.skipIf('missing' in google)(`the pull bridge on Google's emulator${reason}`, () => {
  let emulator: Emulator;
  let bench: Bench;

  beforeAll(async () => {
    emulator = await startGooglePubSubEmulator('jar' in google ? google.jar : '');
    bench = new Bench(emulator.address);
  });

  afterAll(async () => {
    await bench.close();
    await emulator.close();
  });

  test('posts more than two at once, with ordering key and attempt, and posts again what was refused', async () => {
    const dead = await bench.topic();
    const { topic, subscription } = await bench.subscribed({
      deadLetterPolicy: { deadLetterTopic: dead.name, maxDeliveryAttempts: 5 },
    });
    let underWay = 0;
    let most = 0;
    const endpoint = await startPushEndpoint(async (_push, index) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 100));
      underWay -= 1;
      return index === 0 ? 500 : 204;
    });
    const bridge = await startPullBridge({
      pubsubHost: emulator.address,
      projectId: 'p',
      subscription: subscription.name,
      endpoint: endpoint.url,
      concurrency: 8,
    });
    await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        topic.publishMessage({ data: Buffer.from('x'), orderingKey: `key-${index}` }),
      ),
    );
    await until(() => bridge.counters.acked === 16, 'all acknowledgements', 15_000);
    await bridge.close();
    await endpoint.close();
    expect(bridge.counters).toEqual({ delivered: 17, acked: 16, nacked: 1 });
    expect(most).toBe(8);
    const bodies = endpoint.bodies();
    expect(new Set(bodies.map(({ message }) => message.orderingKey)).size).toBe(16);
    expect(bodies.map(({ deliveryAttempt }) => deliveryAttempt).toSorted()).toEqual([...Array<number>(16).fill(1), 2]);
  });
});
