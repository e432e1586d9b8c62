import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startCoordinate } from '../../functions/coordinate.ts';
import { freezeRun } from '../../functions/parts/scan/freeze-run.ts';
import { ensureTables } from '../../infra/local/cloud/table-resources.ts';
import { startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import type { ResolvedScanSource } from '../../shared/config/resolved.ts';
import { formatRange } from '../../shared/model/row-range.ts';
import { startRun } from '../../shared/scan/runs/start-run.ts';
import { createPulledTopic } from '../support/pulled-topic.ts';
import { ensureSubscription } from '../../infra/local/cloud/pubsub-resources.ts';
import { startPubSubServer, type LocalPubSub } from '../../infra/local/servers/pubsub/server.ts';
import { type LocalFirestore, startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { ConfigError } from '../../shared/base/errors.ts';
import { systemRandom } from '../../shared/base/random.ts';
import { segmentId } from '../../shared/staged/segment-id.ts';
import type { NewSegment } from '../../shared/staged/ports.ts';
import type { PipelineRun } from '../../shared/coordinator/tick-loop.ts';
import { createDatabase, type StageViews } from '../../shared/google/firestore/database.ts';
import { openSubscriptionPuller } from '../../shared/google/pubsub/subscription-puller.ts';
import { decodeWork } from '../../shared/staged/work-message.ts';

/** Real edges: the embedded Firestore and the embedded Pub/Sub. */
let firestore: LocalFirestore;
let pubsub: LocalPubSub;
const { signal } = new AbortController();

beforeAll(async () => {
  firestore = await startFirestoreServer();
  pubsub = await startPubSubServer();
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', firestore.address);
  vi.stubEnv('PUBSUB_EMULATOR_HOST', pubsub.address);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await pubsub.close();
  await firestore.close();
});

const stagedSink = (change: Readonly<Record<string, unknown>> = {}): object => ({
  kind: 'staged-sink',
  ...{ topic: 'orders', project: 'p', instance: 'i', table: 't', serializer: 'entry' },
  ...{ markerFamily: 'm', checkpointInterval: '1s', firestoreDatabase: 'connector', metricsFlushInterval: '0ms' },
  ...change,
});

const configOf = (pipelines: object): Readonly<Record<string, string>> => ({
  CONNECTOR_CONFIG: JSON.stringify({ pipelines }),
});

/** Stands for the process: takes SIGTERM and lets the instance end. */
class Signals extends EventEmitter {
  readonly exited = Promise.withResolvers<number>();
  exit(code: number): void {
    this.exited.resolve(code);
  }
}

interface Started {
  readonly lines: string[];
  invoke(): Promise<{ status: number; pipelines: readonly PipelineRun[] }>;
  /** SIGTERM; resolves when the instance has ended. */
  end(): Promise<number>;
}

async function start(pipelines: object): Promise<Started> {
  const signals = new Signals();
  const lines: string[] = [];
  const env = { ...configOf(pipelines), PUBSUB_EMULATOR_HOST: pubsub.address };
  const handler = await startCoordinate(env, {
    clock: systemClock,
    random: systemRandom,
    signals,
    writeLine: (line) => lines.push(line),
  });
  return {
    lines,
    async invoke() {
      const { status, text = '' } = await handler();
      return { status, ...(JSON.parse(text) as { pipelines: readonly PipelineRun[] }) };
    },
    end() {
      signals.emit('SIGTERM');
      return signals.exited.promise;
    },
  };
}

function storesOf(pipeline: string): StageViews {
  const database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  onTestFinished(() => database.close());
  return database.stage(pipeline);
}

const segment = (lane: number): NewSegment => ({
  id: segmentId(lane, 1, '0123456789abcdef'),
  envelopes: 5,
  payload: Buffer.from('payload'),
  stagedAt: Date.now(),
});

async function until<Value>(read: () => Promise<Value | undefined>): Promise<Value> {
  return vi.waitFor(
    async () => {
      const value = await read();
      if (value === undefined) throw new Error('not yet');
      return value;
    },
    { timeout: 30_000, interval: 50 },
  );
}

test('an invocation completes checkpoints and sends their work until SIGTERM, and then gives its leases back', async () => {
  const work = { topic: 'projects/p/topics/orders-sink-commit', name: 'projects/p/subscriptions/work' };
  await ensureSubscription(pubsub.address, { ...work, isOrdered: false, ackDeadlineSeconds: 60 });
  const stores = storesOf('sink');
  await stores.staging.stage([segment(0), segment(1)], signal);

  const instance = await start({ sink: stagedSink() });
  const running = instance.invoke();
  const [completed] = await until(async () => {
    const found = await stores.status.readCheckpoints(10, signal);
    return found.length > 0 ? found : undefined;
  });
  expect(completed).toMatchObject({ number: 1, amount: { segments: 2, envelopes: 10 } });

  const puller = await openSubscriptionPuller(work.name, 30, systemClock);
  onTestFinished(() => puller.close());
  const [message] = await until(async () => {
    const pulled = await puller.pull(10, 500, signal);
    return pulled.length > 0 ? pulled : undefined;
  });
  expect(message?.attributes).toEqual({ pipeline: 'sink' });
  const sent = decodeWork(message?.data ?? Buffer.alloc(0));
  expect(sent).toMatchObject({ pipeline: 'sink' });

  const found = await Promise.all(sent?.ranges.map((range) => stores.committing.readRange(range, 10, signal)) ?? []);
  expect(found.flat()).toHaveLength(2);
  await stores.committing.finish(found.flat(), signal);
  await until(async () => {
    const [first] = await stores.status.readCheckpoints(1, signal);
    return first?.committedAt === undefined ? undefined : first;
  });

  const again = await instance.invoke();
  expect(again).toMatchObject({ status: 200, pipelines: [{ pipeline: 'sink', outcome: 'held', ticks: 0 }] });

  const ended = instance.end();
  expect(await running).toMatchObject({
    status: 200,
    pipelines: [{ pipeline: 'sink', outcome: 'ticked', failures: 0, counts: { completed: 1, committed: 1 } }],
  });
  expect(await ended).toBe(0);
  expect((await stores.status.readPipeline(signal))?.value.lease).toMatchObject({ owner: '', epoch: 1 });
  expect(instance.lines.join('\n')).toContain('"checkpointsCommitted":1');
}, 60_000);

test('what fails in one pipeline is nothing to another', async () => {
  const stores = storesOf('well');
  await stores.staging.stage([segment(0)], signal);
  const broken = firestore.faults.add({
    method: 'BatchGetDocuments',
    where: ({ documents }) => documents.some((name) => name.endsWith('/broken')),
    times: Infinity,
    effect: { kind: 'refuse', status: { code: 'PERMISSION_DENIED', message: 'not yours' } },
  });
  onTestFinished(() => {
    broken.remove();
  });
  await ensureSubscription(pubsub.address, {
    ...{ topic: 'projects/p/topics/orders-well-commit', name: 'projects/p/subscriptions/well' },
    ...{ isOrdered: false, ackDeadlineSeconds: 60 },
  });
  const instance = await start({ well: stagedSink(), broken: stagedSink() });
  const running = instance.invoke();
  await until(async () => (await stores.status.readCheckpoints(1, signal))[0]);
  await until(() => Promise.resolve(instance.lines.find((line) => line.includes('a tick failed'))));
  const ended = instance.end();
  const { pipelines } = await running;
  expect(pipelines).toMatchObject([
    { pipeline: 'well', failures: 0, counts: { completed: 1 } },
    { pipeline: 'broken', ticks: 0 },
  ]);
  expect(pipelines[1]?.failures).toBeGreaterThan(0);
  await ended;
  expect(instance.lines.join('\n')).toContain('roles/datastore.user');
}, 60_000);

const ON_RECEIPT = { commit: 'on-receipt', checkpointInterval: undefined, firestoreDatabase: undefined };

test('a configuration in which no pipeline needs ticks is answered at once, and the answer says so', async () => {
  const instance = await start({ sink: stagedSink(ON_RECEIPT) });
  expect(await instance.invoke()).toEqual({ status: 200, pipelines: [], message: 'no pipeline needs ticks' });
  expect(await instance.end()).toBe(0);
});

test.each([
  ['another one', { sink: stagedSink() }, 'other', '(there is: sink)'],
  ['one that needs no ticks', { sink: stagedSink(ON_RECEIPT) }, 'sink', '(there is: none)'],
])('a coordinator of %s is refused at start', async (_case, pipelines, name, known) => {
  const surroundings = { clock: systemClock, random: systemRandom, signals: new Signals(), writeLine: () => undefined };
  const starting = startCoordinate({ ...configOf(pipelines), CONNECTOR_PIPELINE: name }, surroundings);
  await expect(starting).rejects.toThrow(ConfigError);
  await expect(starting).rejects.toThrow(
    `CONNECTOR_PIPELINE: must name a pipeline of kind scan-source or change-stream-source, or of kind staged-sink with the commit on-checkpoint ${known}`,
  );
});

test('an invocation plans a run of a scan, ends it with its last split and tells its topic; without one it writes nothing', async () => {
  await using stack = new AsyncDisposableStack();
  const bigtable = await startBigtableServer();
  stack.defer(() => bigtable.close());
  const name = { project: 'p', instance: 'i', table: 't' };
  await ensureTables(bigtable.address, [{ name, families: { cf: {} }, splits: ['m'] }]);
  const output = await createPulledTopic(pubsub.address, 'projects/p/topics/rows');
  stack.defer(() => {
    output.close();
  });
  const scan = {
    kind: 'scan-source',
    ...{ ...name, outputTopic: 'rows', emulatorEndpoint: bigtable.address, firestoreDatabase: 'connector' },
    metricsFlushInterval: '0ms',
  };
  const database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  stack.defer(() => database.close());
  const { runs, slots } = database.scan('export');
  const before = firestore.billed();
  const instance = await start({ export: scan });
  const invoked = instance.invoke();
  await until(() => Promise.resolve(firestore.billed().reads > before.reads || undefined));
  expect(firestore.billed().writes).toBe(before.writes);

  const pipeline = await loadedScan(scan);
  await startRun(
    {
      id: 'r1',
      options: (last) => freezeRun(pipeline, last),
      concurrentRuns: 'refuse',
    },
    { store: runs, clock: systemClock },
    signal,
  );
  const { plan } = await until(async () => {
    const run = (await runs.readRun('r1', signal))?.value;
    return run?.state === 'reading' ? run : undefined;
  });
  // What a slot does, at once.
  const waiting = await slots.readWaiting('r1', plan!, Date.now() + 60_000, 10, signal);
  expect(waiting.map(({ split }) => formatRange(split.range))).toEqual(['(*, m)', '[m, *)']);
  const changes = waiting.map(({ split, version }) => ({
    split: { ...split, counts: { ...split.counts, rows: 21 }, state: { kind: 'done' } as const },
    version,
  }));
  const value = { owner: '', epoch: 1, attempt: 1, units: {} };
  await slots.commit({ slot: 0, version: undefined, value, changes }, signal);
  const done = await until(async () => {
    const run = (await runs.readRun('r1', signal))?.value;
    return run?.isTold === true ? run : undefined;
  });
  expect(done).toMatchObject({ state: 'done', totals: { rows: 42 } });
  const told = await until(async () => (await output.pull()).at(0));
  expect(told.attributes).toMatchObject({ kind: 'run-completed', run: 'r1' });

  await instance.end();
  expect((await invoked).pipelines).toMatchObject([{ pipeline: 'export', outcome: 'ticked', failures: 0 }]);
  expect((await runs.readPipeline(signal))?.value.lease.owner).toBe('');
}, 60_000);

test('a run whose table is missing fails, and says how it is fixed', async () => {
  await using stack = new AsyncDisposableStack();
  const bigtable = await startBigtableServer();
  stack.defer(() => bigtable.close());
  const scan = {
    kind: 'scan-source',
    ...{ project: 'p', instance: 'i', table: 'gone', form: 'count', emulatorEndpoint: bigtable.address },
    firestoreDatabase: 'connector',
  };
  const database = createDatabase({ databaseId: 'connector', projectId: 'p' });
  stack.defer(() => database.close());
  const { runs } = database.scan('counted');
  const pipeline = await loadedScan(scan);
  const options = (): string => freezeRun(pipeline, undefined);
  await startRun({ id: 'r1', options, concurrentRuns: 'refuse' }, { store: runs, clock: systemClock }, signal);
  const instance = await start({ counted: scan });
  const invoked = instance.invoke();
  const failed = await until(async () => {
    const run = (await runs.readRun('r1', signal))?.value;
    return run?.state === 'failed' ? run : undefined;
  });
  expect(failed.problem).toContain('NOT_FOUND');
  await instance.end();
  await invoked;
}, 60_000);

/** A pipeline as a function resolves it. */
async function loadedScan(scan: object): Promise<ResolvedScanSource> {
  const { config } = await parseConfig(JSON.stringify({ pipelines: { scan } }), 'test');
  const { scan: pipeline } = config.pipelines;
  if (pipeline?.kind !== 'scan-source') throw new TypeError('no scan');
  return pipeline;
}
