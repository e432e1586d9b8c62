import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../shared/base/errors.ts';
import { startLocalCloud, type LocalCloud } from '../../../../infra/local/cloud/cloud.ts';
import { SubscriberDefinition, type Subscription } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { ensureSubscription, stopPush } from '../../../../infra/local/cloud/pubsub-resources.ts';
import { parseTableDeclarations } from '../../../../infra/local/cloud/table-declarations.ts';
import { ensureTables } from '../../../../infra/local/cloud/table-resources.ts';
import { blank, unary } from '../../../../infra/local/cloud/unary.ts';
import { BigtableDefinition, SampleRowKeysRequest } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { messages } from '../../../support/bigtable-raw-client.ts';
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
    name: 'projects/p/subscriptions/orders-sink',
    isOrdered: true,
    ackDeadlineSeconds: 600,
    retentionSeconds: 604_800,
    backoff: { minSeconds: 10, maxSeconds: 600 },
  };

  test('is made as a deployment makes it: retried from 10 s to 10 min, ordered, and without a dead-letter policy', async () => {
    await ensureSubscription(cloud.pubsubHost, wanted, 'http://127.0.0.1:1/');
    expect(await read(wanted.name)).toMatchObject({
      topic: wanted.topic,
      ackDeadlineSeconds: 600,
      enableMessageOrdering: true,
      deadLetterPolicy: undefined,
      retryPolicy: { minimumBackoff: { seconds: 10n }, maximumBackoff: { seconds: 600n } },
      messageRetentionDuration: { seconds: 604_800n },
      pushConfig: { pushEndpoint: 'http://127.0.0.1:1/' },
    });
  });

  test('is made once; a second time only its endpoint moves', async () => {
    await ensureSubscription(cloud.pubsubHost, wanted, 'http://127.0.0.1:2/');
    expect((await read(wanted.name)).pushConfig?.pushEndpoint).toBe('http://127.0.0.1:2/');
  });

  test('waits to be pulled when its push is stopped', async () => {
    await stopPush(cloud.pubsubHost, wanted.name);
    expect((await read(wanted.name)).pushConfig?.pushEndpoint ?? '').toBe('');
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

  test('are split when they are made, where their declaration says so', async () => {
    const text = 'tables: { p.i.split: { families: { f: {} }, splits: [m, t] } }';
    await ensureTables(cloud.bigtableHost, parseTableDeclarations(text, 'tables.yaml', undefined));
    const data = connectTo(BigtableDefinition, cloud.bigtableHost);
    const tableName = 'projects/p/instances/i/tables/split';
    const samples = await messages(data.sampleRowKeys({ ...blank(SampleRowKeysRequest), tableName }));
    data.close();
    expect(samples.map(({ rowKey }) => rowKey.toString())).toEqual(['m', 't', '']);
  });

  test('keep their changes where their declaration says so', async () => {
    const text = 'tables: { p.i.streamed: { families: { f: {} }, splits: [m], changeStreamDays: 7 } }';
    await ensureTables(cloud.bigtableHost, parseTableDeclarations(text, 'tables.yaml', undefined));
    expect(cloud.bigtable?.changeStream('projects/p/instances/i/tables/streamed').partitions()).toHaveLength(2);
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
    ['a split without a key', 'tables: { p.i.t: { families: {}, splits: [""] } }', /splits\.0/],
    ['a family name that Bigtable refuses', 'tables: { p.i.t: { families: { "a b": {} } } }', /families\.a b/],
    ['nothing', '', /tables\.yaml: 1 problem/],
    ['not YAML', 'tables: [', /tables\.yaml/],
  ])('%s is refused with its path', (_case, text, message) => {
    const parse = (): unknown => parseTableDeclarations(text, 'tables.yaml', undefined);
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(message);
  });
});
