import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../shared/base/errors.ts';
import { startLocalCloud, type LocalCloud } from '../../../../infra/local/cloud/cloud.ts';
import { planDeployment } from '../../../../infra/local/run/deployment.ts';
import { SubscriberDefinition, type Subscription } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { ensureSubscriptions, stopPush } from '../../../../infra/local/cloud/pubsub-resources.ts';
import { parseTableDeclarations } from '../../../../infra/local/cloud/table-declarations.ts';
import { ensureTables } from '../../../../infra/local/cloud/table-resources.ts';
import { unary } from '../../../../infra/local/cloud/unary.ts';
import { resolveConfig } from '../../../../shared/config/resolve.ts';
import { connectTo, type ClientOf } from '../../../../infra/local/servers/rpc/client.ts';

let cloud: LocalCloud;
let subscriber: ClientOf<SubscriberDefinition>;
beforeAll(async () => {
  cloud = await startLocalCloud({ env: {} });
  subscriber = connectTo(SubscriberDefinition, cloud.pubsubHost);
});
afterAll(async () => {
  subscriber.close();
  await cloud.close();
});
const read = (subscription: string): Promise<Subscription> =>
  unary(subscriber.getSubscription.bind(subscriber), { subscription });

describe('the subscription of a pipeline', () => {
  const wanted = {
    topic: 'projects/p/topics/orders',
    subscription: 'projects/p/subscriptions/orders-sink',
    pushEndpoint: 'http://127.0.0.1:1/',
    isOrdered: true,
    ackDeadlineSeconds: 600,
  };

  test('is made as a deployment makes it: retried from 10 s to 10 min, ordered, and without a dead-letter policy', async () => {
    await ensureSubscriptions(cloud.pubsubHost, [wanted]);
    expect(await read(wanted.subscription)).toMatchObject({
      topic: wanted.topic,
      ackDeadlineSeconds: 600,
      enableMessageOrdering: true,
      deadLetterPolicy: undefined,
      retryPolicy: { minimumBackoff: { seconds: 10n }, maximumBackoff: { seconds: 600n } },
      messageRetentionDuration: { seconds: 604_800n },
      pushConfig: { pushEndpoint: wanted.pushEndpoint },
    });
  });

  test('is made once; a second time only its endpoint moves', async () => {
    await ensureSubscriptions(cloud.pubsubHost, [{ ...wanted, pushEndpoint: 'http://127.0.0.1:2/' }]);
    expect((await read(wanted.subscription)).pushConfig?.pushEndpoint).toBe('http://127.0.0.1:2/');
  });

  test('waits to be pulled when its push is stopped', async () => {
    await stopPush(cloud.pubsubHost, wanted.subscription);
    expect((await read(wanted.subscription)).pushConfig?.pushEndpoint ?? '').toBe('');
  });
});

describe('tables', () => {
  test('are made once, and lack no declared family afterwards', async () => {
    const name = { project: 'p', instance: 'i', table: 'orders' };
    await ensureTables(cloud.bigtableHost, [{ name, families: { a: { maxVersions: 1 } } }]);
    await ensureTables(cloud.bigtableHost, [{ name, families: { a: {}, b: { aggregate: 'max' } } }]);
    await ensureTables(cloud.bigtableHost, [{ name, families: { a: {}, b: {} } }]);
    const made = cloud.bigtable?.tables().find((table) => table.name.endsWith('/orders'));
    expect(made?.families.toSorted()).toEqual(['a', 'b']);
  });

  test('are declared by full name, or by table id in the home of the pipelines', () => {
    const text = 'tables:\n  orders: { families: { f: { maxVersions: 2 } } }\n  q.j.other: { families: {} }';
    expect(parseTableDeclarations(text, 'tables.yaml', { project: 'p', instance: 'i' })).toEqual([
      { name: { project: 'p', instance: 'i', table: 'orders' }, families: { f: { maxVersions: 2 } } },
      { name: { project: 'q', instance: 'j', table: 'other' }, families: {} },
    ]);
  });

  test.each([
    ['a bare table id without a home', 'tables: { orders: { families: {} } }', /tables\.orders: must be project/],
    ['an unknown key', 'tables: { orders: { family: {} } }', /tables\.orders/],
    [
      'a family of no version',
      'tables: { p.i.t: { families: { f: { maxVersions: 0 } } } }',
      /families\.f\.maxVersions: .*, got 0/,
    ],
    ['a family name that Bigtable refuses', 'tables: { p.i.t: { families: { "a b": {} } } }', /families\.a b/],
    ['nothing', '', /tables\.yaml: 1 problem/],
    ['not YAML', 'tables: [', /tables\.yaml/],
  ])('%s is refused with its path', (_case, text, message) => {
    const parse = (): unknown => parseTableDeclarations(text, 'tables.yaml', undefined);
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(message);
  });
});

describe('what a configuration needs around it', () => {
  const pipeline = { kind: 'bulk-sink', topic: 'orders', table: 'orders', serializer: 'entry' };
  const plan = (own: object, defaults: object = { project: 'p', instance: 'i' }): ReturnType<typeof planDeployment> =>
    planDeployment(resolveConfig({ defaults, pipelines: { sink: { ...pipeline, ...own } } }, 'test').config, 'local');

  test('is a topic, a subscription and, for dead letters, a topic of their own that is pulled', () => {
    const deadLetter = { failurePolicy: 'dead-letter', deadLetter: { topic: 'projects/q/topics/dead' } };
    expect(plan({ ...deadLetter, ordering: 'row', ackDeadline: '60s' })).toEqual([
      {
        name: 'sink',
        target: 'bulkSink',
        framing: 'single',
        source: {
          topic: 'projects/p/topics/orders',
          subscription: 'projects/p/subscriptions/orders-sink',
          isOrdered: true,
          ackDeadlineSeconds: 60,
        },
        deadLetters: {
          topic: 'projects/q/topics/dead',
          subscription: 'projects/q/subscriptions/dead-reader',
          isOrdered: false,
          ackDeadlineSeconds: 60,
          isGivenBackAtOnce: true,
        },
        table: { project: 'p', instance: 'i', table: 'orders' },
        home: { project: 'p', instance: 'i' },
      },
    ]);
  });

  test('is for results, too, a topic that is pulled', () => {
    const requests = { kind: 'request-sink', serializer: 'request', resultsTopic: 'answers' };
    const [deployment] = plan(requests);
    expect(deployment).toMatchObject({
      target: 'requestSink',
      results: { topic: 'projects/p/topics/answers', subscription: 'projects/p/subscriptions/answers-reader' },
    });
    expect(plan({ ...requests, resultsTopic: undefined })[0]).not.toHaveProperty('results');
  });

  test('takes the local project where the configuration names none', () => {
    const [deployment] = plan({ table: { project: 'p', instance: 'i', table: 'orders' } }, {});
    expect(deployment?.source.topic).toBe('projects/local/topics/orders');
    expect(deployment).not.toHaveProperty('deadLetters');
  });
});
