import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ownBodies } from '../../functions/bodies/own-bodies.ts';
import { startCoordinate } from '../../functions/coordinate.ts';
import type { Handler } from '../../functions/parts/entry-point.ts';
import { serveSlot, type SlotHandler } from '../../functions/parts/slots/slot-handler.ts';
import { startReadChangeStream } from '../../functions/read-change-stream.ts';
import { blank, unary } from '../../infra/local/cloud/unary.ts';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { type LocalFirestore, startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { type LocalPubSub, startPubSubServer } from '../../infra/local/servers/pubsub/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { systemRandom } from '../../shared/base/random.ts';
import { envelopeRecord } from '../../shared/change-stream/forms/envelope-schema.ts';
import { Table } from '../../shared/proto/google/bigtable/admin/v2/table.ts';
import { connect, INSTANCE, mutateRow, type RawClient, setCell } from '../support/bigtable-raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { createPulledTopic, type PulledTopic } from '../support/pulled-topic.ts';
import { InstanceSignals } from '../support/sink-harness.ts';

/** Real edges: the embedded Bigtable, Firestore and Pub/Sub, and HTTP. */
let bigtable: LocalBigtable;
let firestore: LocalFirestore;
let pubsub: LocalPubSub;
let raw: RawClient;
let output: PulledTopic;
let table: string;
let madeAt = 0;
const open: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  [bigtable, firestore, pubsub] = await Promise.all([
    startBigtableServer({ profiles: { cdc: { singleCluster: true, transactional: true } } }),
    startFirestoreServer(),
    startPubSubServer(),
  ]);
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', firestore.address);
  output = await createPulledTopic(pubsub.address, 'projects/p/topics/changes');
  raw = connect(bigtable.address);
  ({ name: table } = await unary(raw.admin.createTable.bind(raw.admin), {
    parent: INSTANCE,
    tableId: 'orders',
    table: {
      ...blank(Table),
      columnFamilies: { f: { gcRule: undefined, valueType: undefined } },
      changeStreamConfig: { retentionPeriod: { seconds: 86_400n, nanos: 0 } },
    },
    initialSplits: [{ key: Buffer.from('m') }],
  }));
  madeAt = systemClock.now();
});

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
  vi.unstubAllEnvs();
  output.close();
  raw.close();
  await Promise.all([bigtable.close(), firestore.close(), pubsub.close()]);
});

const environment = (change: Readonly<Record<string, unknown>> = {}) => {
  const [, project, , instance] = INSTANCE.split('/');
  const pipeline = {
    kind: 'change-stream-source',
    ...{ project, instance, table: 'orders', appProfileId: 'cdc', outputTopic: 'projects/p/topics/changes' },
    ...{ emulatorEndpoint: bigtable.address, metricsFlushInterval: '0ms', parallelism: 1 },
    ...change,
  };
  return {
    CONNECTOR_CONFIG: JSON.stringify({ pipelines: { changes: pipeline } }),
    PUBSUB_EMULATOR_HOST: pubsub.address,
    CLOUD_RUN_TIMEOUT_SECONDS: '1800',
  };
};

/** A coordinator at work, from now to the end of the test. */
async function coordinate(change?: Readonly<Record<string, unknown>>): Promise<void> {
  const signals = new InstanceSignals();
  const handler: Handler = await startCoordinate(environment(change), {
    ...{ clock: systemClock, random: systemRandom, signals },
    writeLine: () => undefined,
  });
  const work = handler({} as Parameters<Handler>[0], '');
  open.push(async () => {
    await signals.terminate();
    await work;
  });
}

interface Instance {
  post(body: object): Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> }>;
  terminate(): Promise<number>;
}

async function start(change?: Readonly<Record<string, unknown>>): Promise<Instance> {
  const signals = new InstanceSignals();
  await ownBodies();
  const handler = await startReadChangeStream(environment(change), {
    ...{ clock: systemClock, random: systemRandom, signals },
    writeLine: () => undefined,
  });
  const server = await serve(handler);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  open.push(async () => {
    await signals.terminate();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return {
    async post(body) {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      return { status: response.status, json: (await response.json()) as Readonly<Record<string, unknown>> };
    },
    terminate: () => signals.terminate(),
  };
}

async function serve(handler: SlotHandler): Promise<Server> {
  const server = createServer((request, response) => {
    serveSlot(handler, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const write = (key: string, value: string): Promise<unknown> =>
  mutateRow(raw, {
    tableName: table,
    appProfileId: 'cdc',
    rowKey: Buffer.from(key),
    mutations: [setCell('f', 'q', value)],
  });

/** Values that were published, in their order. */
async function taken(seen: string[]): Promise<string[]> {
  for (const { data, attributes } of await output.pull()) {
    const { rowKey, id, entries } = envelopeRecord.parse(JSON.parse(data.toString())) as {
      rowKey: string;
      id: string;
      entries: { value: string }[];
    };
    expect(attributes).toMatchObject({ id, 'ce-id': id, type: 'USER' });
    seen.push(
      `${Buffer.from(rowKey, 'base64').toString()}=${Buffer.from(entries[0]?.value ?? '', 'base64').toString()}`,
    );
  }
  return seen;
}

test('every change is published, before and after a split and a merge, and SIGTERM gives everything back', async () => {
  const reader = await start();
  expect(await reader.post({ slot: 0 })).toMatchObject({ status: 200, json: { outcome: 'idle' } });
  // The latest position is two seconds before now, and the stream has nothing from before the table was made.
  await eventually(() => {
    expect(systemClock.now() - madeAt).toBeGreaterThan(2_000);
  });
  await coordinate();
  await eventually(async () => {
    expect(bigtable.changeStream(table).partitions()).toHaveLength(2);
    const posted = await Promise.race([
      reader.post({ slot: 0 }),
      new Promise((resolve) => setTimeout(resolve, 300, {})),
    ]);
    expect(posted).not.toMatchObject({ json: { outcome: 'idle' } });
  });
  const seen: string[] = [];
  await write('a', '1');
  await write('z', '2');
  await eventually(async () => {
    expect((await taken(seen)).toSorted()).toEqual(['a=1', 'z=2']);
  });
  const stream = bigtable.changeStream(table);
  stream.split(['c'], bigtable.streamNow());
  await write('a', '3');
  await write('d', '4');
  await eventually(async () => {
    expect((await taken(seen)).slice(2).toSorted()).toEqual(['a=3', 'd=4']);
  });
  stream.merge('m', bigtable.streamNow());
  await write('d', '5');
  await write('z', '6');
  await eventually(async () => {
    expect((await taken(seen)).slice(4).toSorted()).toEqual(['d=5', 'z=6']);
  });
  expect(await reader.terminate()).toBe(0);
}, 60_000);

test('a table without a change stream stops the source with the command that turns it on', async () => {
  const lines: string[] = [];
  await unary(raw.admin.createTable.bind(raw.admin), {
    parent: INSTANCE,
    tableId: 'plain',
    table: { ...blank(Table), columnFamilies: { f: { gcRule: undefined, valueType: undefined } } },
    initialSplits: [],
  });
  const signals = new InstanceSignals();
  const handler = await startCoordinate(environment({ table: 'plain' }), {
    ...{ clock: systemClock, random: systemRandom, signals },
    writeLine: (line) => lines.push(line),
  });
  const work = handler({} as Parameters<Handler>[0], '');
  open.push(async () => {
    await signals.terminate();
    await work;
  });
  await eventually(() => {
    expect(lines.join('\n')).toContain('--change-stream-retention-period=7d');
  });
  const slot = await start({ table: 'plain' });
  expect(await slot.post({ slot: 0 })).toMatchObject({ status: 200, json: { outcome: 'idle', status: 'stopped' } });
}, 30_000);
