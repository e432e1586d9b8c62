import { PubSub } from '@google-cloud/pubsub';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startPubSubServer, type LocalPubSub } from '../../../../infra/local/servers/pubsub/server.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { openSubscriptionPuller } from '../../../../shared/google/pubsub/subscription-puller.ts';
import { eventually } from '../../../support/eventually.ts';
import { expectSoon } from '../../../support/soon.ts';

/** Against the local Pub/Sub, on a subscription whose own ack deadline is the longest there is. */
const LEASE_SECONDS = 1;
const never = new AbortController().signal;

let server: LocalPubSub;
let client: PubSub;
let tests = 0;
let name: string;

beforeAll(async () => {
  server = await startPubSubServer();
  vi.stubEnv('PUBSUB_EMULATOR_HOST', server.address);
  client = new PubSub({ projectId: 'p' });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await client.close();
  await server.close();
});
beforeEach(async () => {
  tests += 1;
  await client.createTopic(`topic${tests}`);
  await client.topic(`topic${tests}`).createSubscription(`sub${tests}`, { ackDeadlineSeconds: 600 });
  name = `projects/p/subscriptions/sub${tests}`;
});

const publish = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      client.topic(`topic${tests}`).publishMessage({ data: Buffer.from(`${index}`) }),
    ),
  );
const open = () => openSubscriptionPuller(name, LEASE_SECONDS, systemClock);

test('what is pulled stays leased as long as the puller is open, and no longer than one lease after', async () => {
  await publish(3);
  const puller = await open();
  expect(await puller.pull(10, 5_000, never)).toHaveLength(3);
  const other = await open();
  expect(await other.pull(10, 3 * LEASE_SECONDS * 1_000, never)).toEqual([]);
  expect(server.counters(name).expired).toBe(0);
  await puller.close();
  expect(await other.pull(10, 2 * LEASE_SECONDS * 1_000, never)).toHaveLength(3);
  await other.close();
});

test('what is released is there for the next one at once, also while its lease is being extended', async () => {
  await publish(20);
  const puller = await open();
  const pulled = await puller.pull(20, 5_000, never);
  const slow = server.faults.add({ method: 'ModifyAckDeadline', effect: { kind: 'delay', delayMillis: 300 } });
  await eventually(() => {
    expect(slow.hits).toBe(1);
  });
  await puller.release(
    pulled.map(({ ackId }) => ackId),
    never,
  );
  const again = await puller.pull(20, 500, never);
  expect(again.length).toBeGreaterThan(0);
  await puller.close();
});

test('a pull that waits ends soon after the signal, and leases nothing that comes later', async () => {
  const puller = await open();
  const stop = new AbortController();
  const waiting = server.faults.add({ method: 'Pull', effect: { kind: 'delay', delayMillis: 0 } });
  const pulling = puller.pull(10, 60_000, stop.signal);
  await eventually(() => {
    expect(waiting.hits).toBe(1);
  });
  const at = performance.now();
  stop.abort(new Error('told to end'));
  await expect(pulling).rejects.toThrow('told to end');
  expectSoon(at, 1_000);
  await publish(2);
  expect(await puller.pull(10, 2_000, never)).not.toEqual([]);
  await puller.close();
});

test('messages that come at the very moment of the signal are returned, so that they can be given back', async () => {
  const puller = await open();
  const stop = new AbortController();
  server.faults.add({ method: 'Pull', effect: { kind: 'delay', delayMillis: 50 } });
  await publish(2);
  const pulling = puller.pull(10, 5_000, stop.signal);
  stop.abort(new Error('told to end'));
  const pulled = await pulling;
  expect(pulled).toHaveLength(2);
  await puller.release(
    pulled.map(({ ackId }) => ackId),
    never,
  );
  expect(await puller.pull(10, 2_000, never)).toHaveLength(2);
  await puller.close();
});

test('a change of leases that is not answered is waited for until its signal', async () => {
  await publish(1);
  const puller = await open();
  const [message] = await puller.pull(1, 5_000, never);
  server.faults.add({ method: 'Acknowledge', effect: { kind: 'never-answer', isApplied: false } });
  const stop = new AbortController();
  const acknowledging = puller.acknowledge([message?.ackId ?? ''], stop.signal);
  stop.abort(new Error('told to end'));
  await expect(acknowledging).rejects.toThrow('told to end');
  await puller.close();
});
