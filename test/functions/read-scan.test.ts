import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ownBodies } from '../../functions/bodies/own-bodies.ts';
import { serveSlot, type SlotHandler } from '../../functions/parts/slots/slot-handler.ts';
import { startReadScan } from '../../functions/read-scan.ts';
import { ensureTables } from '../../infra/local/cloud/table-resources.ts';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { type LocalFirestore, startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { type LocalPubSub, startPubSubServer } from '../../infra/local/servers/pubsub/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { systemRandom } from '../../shared/base/random.ts';
import { createPulledTopic, type PulledTopic } from '../support/pulled-topic.ts';
import { InstanceSignals } from '../support/sink-harness.ts';
import { eventually } from '../support/eventually.ts';

/** Real edges: the embedded Bigtable, Firestore and Pub/Sub, and HTTP. */
let bigtable: LocalBigtable;
let firestore: LocalFirestore;
let pubsub: LocalPubSub;
let output: PulledTopic;
let letters: PulledTopic;

const TABLE = 'projects/p/instances/i/tables/t';
const ROWS = 300;

beforeEach(async () => {
  [bigtable, firestore, pubsub] = await Promise.all([
    startBigtableServer({ limits: { readRowBytes: 100_000 } }),
    startFirestoreServer(),
    startPubSubServer(),
  ]);
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', firestore.address);
  output = await createPulledTopic(pubsub.address, 'projects/p/topics/rows');
  letters = await createPulledTopic(pubsub.address, 'projects/p/topics/letters');
  const name = { project: 'p', instance: 'i', table: 't' };
  await ensureTables(bigtable.address, [{ name, families: { cf: {} }, splits: ['row-100', 'row-200'] }]);
  bigtable.fill(TABLE, rows(ROWS));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  output.close();
  letters.close();
  await Promise.all([bigtable.close(), firestore.close(), pubsub.close()]);
});

const keyOf = (index: number): string => `row-${String(index).padStart(3, '0')}`;

function* rows(count: number, valueOf: (index: number) => Buffer = (index) => Buffer.from(`value ${index}`)) {
  for (let index = 0; index < count; index += 1) {
    const set = {
      familyName: 'cf',
      columnQualifier: Buffer.from('q'),
      timestampMicros: 1_000_000n,
      value: valueOf(index),
    };
    yield { rowKey: Buffer.from(keyOf(index)), mutations: [{ mutation: { $case: 'setCell' as const, value: set } }] };
  }
}

interface Instance {
  post(body: object, headers?: Readonly<Record<string, string>>): Promise<{ status: number; json: Answered }>;
  request(init: RequestInit): Promise<number>;
  terminate(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

type Answered = Readonly<Record<string, unknown>>;

async function start(change: Readonly<Record<string, unknown>> = {}): Promise<Instance> {
  const pipeline = {
    kind: 'scan-source',
    ...{ project: 'p', instance: 'i', table: 't', outputTopic: 'rows', emulatorEndpoint: bigtable.address },
    ...{ parallelism: 2, metricsFlushInterval: '0ms', text: 'utf8' },
    ...change,
  };
  const signals = new InstanceSignals();
  await ownBodies();
  const handler = await startReadScan(
    {
      CONNECTOR_CONFIG: JSON.stringify({ pipelines: { export: pipeline } }),
      PUBSUB_EMULATOR_HOST: pubsub.address,
      CLOUD_RUN_TIMEOUT_SECONDS: '1800',
    },
    { clock: systemClock, random: systemRandom, signals, writeLine: () => undefined },
  );
  const server = await serve(handler);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    async post(body, headers = {}) {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers });
      return { status: response.status, json: (await response.json()) as Answered };
    },
    request: async (init) => (await fetch(url, init)).status,
    terminate: () => signals.terminate(),
    async [Symbol.asyncDispose]() {
      await signals.terminate();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
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

/** Everything that was published. */
async function pulled(topic: PulledTopic) {
  const all = [];
  for (let messages = await topic.pull(); messages.length > 0; messages = await topic.pull()) all.push(...messages);
  return all.map(({ data, attributes }) => ({ data: data.toString(), attributes }));
}

test('a slot without a run has nothing to do, and says so at once', async () => {
  await using instance = await start();
  expect(await instance.post({ slot: 0 })).toEqual({ status: 200, json: { slot: 0, outcome: 'idle' } });
});

test('a run is started once, read by a slot to its end, and told behind its last row', async () => {
  await using instance = await start();
  const begun = await instance.post({ start: {} }, { 'x-cloudscheduler-scheduletime': '2026-01-31T03:00:00Z' });
  expect(begun).toEqual({ status: 202, json: { run: '2026-01-31T03:00:00Z', state: 'planning' } });
  // The same start again is the same run; another one waits for its end.
  const again = await instance.post({ start: {} }, { 'x-cloudscheduler-scheduletime': '2026-01-31T03:00:00Z' });
  expect([again.status, again.json.run]).toEqual([202, '2026-01-31T03:00:00Z']);
  expect((await instance.post({ start: { run: 'other' } })).status).toBe(409);

  const { status, json } = await instance.post({ slot: 1 });
  expect([status, json.outcome, json.splitsFinished]).toEqual([200, 'worked', 3]);

  const messages = await pulled(output);
  const records = messages.filter(({ attributes }) => attributes.kind === undefined);
  expect(new Set(records.map(({ attributes }) => attributes['row-key']))).toEqual(
    new Set(Array.from({ length: ROWS }, (_, index) => keyOf(index))),
  );
  expect(records).toHaveLength(ROWS);
  expect(records[0]?.attributes).toMatchObject({ run: '2026-01-31T03:00:00Z', form: 'row', 'form-version': '1' });
  const told = messages.at(-1);
  expect(told?.attributes).toMatchObject({ kind: 'run-completed', run: '2026-01-31T03:00:00Z' });
  expect(JSON.parse(told?.data ?? '{}')).toMatchObject({ totals: { rows: ROWS, cells: ROWS, messages: ROWS } });
  expect((await instance.post({ slot: 1 })).json.outcome).toBe('idle');
});

test('a row that the service will not read goes to the dead-letter topic where that is asked for', async () => {
  bigtable.fill(TABLE, [...rows(8, () => Buffer.alloc(200_000))].slice(7));
  await using instance = await start({ oversizedRow: 'quarantine', deadLetterTopic: 'letters' });
  await instance.post({ start: { run: 'r' } });
  expect((await instance.post({ slot: 0 })).json.splitsFinished).toBe(3);
  const records = (await pulled(output)).filter(({ attributes }) => attributes.kind === undefined);
  expect(records).toHaveLength(ROWS - 1);
  expect((await pulled(letters)).map(({ attributes }) => [attributes['row-key'], attributes['dlq-reason']])).toEqual([
    [keyOf(7), 'oversized-row'],
  ]);
});

test('after SIGTERM the slot is given back with its progress, and the next invocation goes on', async () => {
  const first = await start({ maxRowsPerSecond: 100 });
  await first.post({ start: { run: 'r' } });
  const working = first.post({ slot: 0 });
  await eventually(async () => {
    expect((await pulled(output)).length).toBeGreaterThan(0);
  });
  const stoppedAt = Date.now();
  const code = first.terminate();
  expect((await working).json.outcome).toBe('worked');
  expect(await code).toBe(0);
  expect(Date.now() - stoppedAt).toBeLessThan(9_000);
  await first[Symbol.asyncDispose]();
  await using second = await start();
  const { json } = await second.post({ slot: 0 });
  expect(json.outcome).toBe('worked');
  const told = (await pulled(output)).at(-1);
  expect(JSON.parse(told?.data ?? '{}')).toMatchObject({ totals: { rows: ROWS } });
});

test('packed messages hold rows as lines, and the form count publishes nothing', async () => {
  {
    await using packed = await start({ maxRecordsPerMessage: 50, orderingKeys: 4 });
    await packed.post({ start: { run: 'packed' } });
    await packed.post({ slot: 0 });
    const messages = (await pulled(output)).filter(({ attributes }) => attributes.kind === undefined);
    expect(messages.length).toBeLessThan(ROWS / 5);
    expect(messages.flatMap(({ data }) => data.trimEnd().split('\n'))).toHaveLength(ROWS);
  }
  await using counting = await start({ form: 'count', text: undefined, outputTopic: undefined });
  await counting.post({ start: { run: 'counted' } });
  expect((await counting.post({ slot: 0 })).json.splitsFinished).toBe(3);
  expect(await pulled(output)).toEqual([]);
});

test.each([
  ['no slot', { slot: 2 }, 400],
  ['a slot that is no number', { slot: 'one' }, 400],
  ['nothing that is asked', {}, 400],
  ['an id that is none', { start: { run: '/' } }, 400],
])('%s is refused', async (_, body, status) => {
  await using instance = await start();
  expect((await instance.post(body)).status).toBe(status);
});

test('a body that is no JSON, and another method, are refused', async () => {
  await using instance = await start();
  expect(await instance.request({ method: 'POST', body: '{"slot":' })).toBe(400);
  expect(await instance.request({ method: 'GET' })).toBe(405);
});

test('a function whose timeout leaves no time to work in does not start', async () => {
  const pipeline = {
    kind: 'scan-source',
    ...{ project: 'p', instance: 'i', table: 't', outputTopic: 'rows', emulatorEndpoint: bigtable.address },
  };
  const env = {
    CONNECTOR_CONFIG: JSON.stringify({ pipelines: { export: pipeline } }),
    CLOUD_RUN_TIMEOUT_SECONDS: '60',
  };
  const surroundings = {
    ...{ clock: systemClock, random: systemRandom, signals: new InstanceSignals() },
    writeLine: () => undefined,
  };
  await expect(startReadScan(env, surroundings)).rejects.toThrow(
    'CLOUD_RUN_TIMEOUT_SECONDS: must be at least twice drainMargin, 90 s',
  );
});
