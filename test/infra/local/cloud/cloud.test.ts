import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { findEmulator } from '../../../../infra/local/cloud/cloud-sdk.ts';
import { startLocalCloud, type LocalCloud, type LocalCloudOptions } from '../../../../infra/local/cloud/cloud.ts';
import { ensureSubscription } from '../../../../infra/local/cloud/pubsub-resources.ts';
import { ensureTables } from '../../../../infra/local/cloud/table-resources.ts';
import { answersTcp, freePort } from '../../../../infra/local/base/tcp.ts';

const NO_ENVIRONMENT = { PATH: process.env.PATH };
const started: LocalCloud[] = [];
const start = async (options: LocalCloudOptions): Promise<LocalCloud> => {
  const cloud = await startLocalCloud({ env: NO_ENVIRONMENT, ...options });
  started.push(cloud);
  return cloud;
};
afterEach(async () => {
  await Promise.all(started.splice(0).map((cloud) => cloud.close()));
});

/** The services of a cloud that accept a connection. */
async function answering({ services }: LocalCloud): Promise<string[]> {
  const answers = await Promise.all(services.map(({ endpoint }) => answersTcp(endpoint)));
  return services.filter((_, at) => answers[at]).map(({ service }) => service);
}

const table = {
  name: { project: 'p', instance: 'i', table: 't' },
  families: { f: {}, total: { aggregate: 'sum' } },
} as const;
const subscription = {
  topic: 'projects/p/topics/orders',
  name: 'projects/p/subscriptions/orders-sink',
  isOrdered: false,
  ackDeadlineSeconds: 600,
};

describe('embedded servers', () => {
  test('in this process: their faults and counters are at hand, and close frees the ports', async () => {
    const cloud = await start({});
    expect(cloud.services.map(({ service, kind, why }) => [service, kind, why])).toEqual([
      ['bigtable', 'embedded', 'the default'],
      ['pubsub', 'embedded', 'the default'],
      ['firestore', 'embedded', 'the default'],
    ]);
    await ensureTables(cloud.bigtableHost, [table]);
    await ensureSubscription(cloud.pubsubHost, subscription);
    expect(cloud.bigtable?.tables()).toEqual([
      { name: 'projects/p/instances/i/tables/t', families: ['f', 'total'], rows: 0 },
    ]);
    expect(cloud.pubsub?.counters(subscription.name)).toBeDefined();
    expect(cloud.firestore?.billed()).toEqual({ reads: 0, writes: 0, deletes: 0 });
    await cloud.close();
    expect(await answering(cloud)).toEqual([]);
  });

  test('in a process of their own: they serve, and end with close', async () => {
    const cloud = await start({ placement: 'child' });
    expect([cloud.bigtable, cloud.pubsub, cloud.firestore]).toEqual([undefined, undefined, undefined]);
    expect(await answering(cloud)).toEqual(['bigtable', 'pubsub', 'firestore']);
    await ensureTables(cloud.bigtableHost, [table]);
    await cloud.close();
    expect(await answering(cloud)).toEqual([]);
  });

  test('tell the clients where they are, and never name a project that the environment names otherwise', async () => {
    const cloud = await start({ project: 'mine' });
    expect(cloud.env).toEqual({
      BIGTABLE_EMULATOR_HOST: cloud.bigtableHost,
      PUBSUB_EMULATOR_HOST: cloud.pubsubHost,
      FIRESTORE_EMULATOR_HOST: cloud.firestoreHost,
      GOOGLE_CLOUD_PROJECT: 'mine',
      METADATA_SERVER_DETECTION: 'none',
    });
    const named = await start({ project: 'mine', env: { GOOGLE_CLOUD_PROJECT: 'theirs' } });
    expect(named.env.GOOGLE_CLOUD_PROJECT).toBe('theirs');
  });
});

describe('a host that is set', () => {
  let somebodys: Server | undefined;
  afterEach(() => {
    somebodys?.close();
  });

  test('is used when something answers there, and is not stopped', async () => {
    const port = await freePort();
    somebodys = createServer().listen(port, '127.0.0.1');
    const host = `127.0.0.1:${port}`;
    const cloud = await start({ env: { BIGTABLE_EMULATOR_HOST: host } });
    expect(cloud.services[0]).toEqual({
      service: 'bigtable',
      kind: 'existing',
      endpoint: host,
      why: 'BIGTABLE_EMULATOR_HOST is set',
    });
    expect(cloud.services[1]?.kind).toBe('embedded');
    await cloud.close();
    expect(await answersTcp(host)).toBe(true);
  });

  test('is passed over with a warning when nothing answers there', async () => {
    const host = `127.0.0.1:${await freePort()}`;
    const cloud = await start({ env: { PUBSUB_EMULATOR_HOST: host } });
    expect(cloud.services.map(({ kind }) => kind)).toEqual(['embedded', 'embedded', 'embedded']);
    expect(cloud.warnings).toEqual([`PUBSUB_EMULATOR_HOST=${host} is set, but nothing answers there; it is ignored`]);
  });
});

const bigtableEmulator = await findEmulator('bigtable');
const pubsubEmulator = await findEmulator('pubsub');
const firestoreEmulator = await findEmulator('firestore');
const missing = [bigtableEmulator, pubsubEmulator, firestoreEmulator].flatMap((search) =>
  'missing' in search ? search.missing : [],
);
const reason = missing.length > 0 ? ` (skipped: ${missing.join('; ')})` : '';

describe.skipIf(missing.length > 0)(`Google's emulators${reason}`, () => {
  test('are started where they are asked for, take the same resources, and end with close', async () => {
    const cloud = await start({ mode: 'google' });
    expect(cloud.services.map(({ kind }) => kind)).toEqual(['google', 'google', 'google']);
    expect(cloud.needsPullBridge).toBe(true);
    await ensureTables(cloud.bigtableHost, [table]);
    await ensureSubscription(cloud.pubsubHost, subscription);
    await cloud.close();
    expect(await answering(cloud)).toEqual([]);
  }, 60_000);
});
