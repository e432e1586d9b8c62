import { PubSub } from '@google-cloud/pubsub';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LocalPubSub, startPubSubServer } from '../../../../infra/local/servers/pubsub/server.ts';
import { openTopicPublisher, type TopicPublisher } from '../../../../shared/google/pubsub/topic-publisher.ts';

/** Over the official client, against the local Pub/Sub. */

const TOPIC = 'projects/p/topics/orders';

let server: LocalPubSub;
let client: PubSub;
let publisher: TopicPublisher;

beforeAll(async () => {
  server = await startPubSubServer();
  process.env.PUBSUB_EMULATOR_HOST = server.address;
  client = new PubSub({ projectId: 'p' });
  await client.createTopic(TOPIC);
});

beforeEach(async () => {
  publisher = await openTopicPublisher(TOPIC, { isOrdered: true });
});

afterEach(async () => {
  await publisher.close();
});

afterAll(async () => {
  delete process.env.PUBSUB_EMULATOR_HOST;
  await client.close();
  await server.close();
});

const send = (text: string, orderingKey?: string): Promise<string> =>
  publisher
    .publish({ data: Buffer.from(text), attributes: {}, ...(orderingKey !== undefined && { orderingKey }) })
    .then(
      () => 'published',
      (error: unknown) => String(error),
    );

describe('after a message of an ordering key failed', () => {
  test.each(['INVALID_ARGUMENT', 'PERMISSION_DENIED', 'NOT_FOUND'] as const)(
    'with %s, none of that key is published any more, and others are',
    async (status) => {
      server.faults.add({
        method: 'Publish',
        effect: { kind: 'refuse', status: { code: status, message: 'injected' } },
      });
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
    server.faults.add({
      method: 'Publish',
      effect: { kind: 'refuse', status: { code: 'INVALID_ARGUMENT', message: 'injected' } },
    });
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
