import { ownFingerprintOf } from '../../functions/parts/own-fingerprint.ts';
import { loadPipeline } from '../../shared/config/load.ts';
import type { Handler } from '../../functions/parts/entry-point.ts';
import { startCommitStaged } from '../../functions/commit-staged.ts';
import { startStagedSink } from '../../functions/staged-sink.ts';
import type { Environment, Surroundings } from '../../functions/parts/surroundings.ts';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { type LocalFirestore, startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { systemRandom } from '../../shared/base/random.ts';
import { createStageDatabase, type StageDatabase } from '../../shared/google/firestore/stage-database.ts';
import { createTicks } from '../../shared/coordinator/tick.ts';
import { checkpointDecider } from '../../shared/staged/checkpoint/checkpoint-decider.ts';
import { type CommitWork, encodeWork } from '../../shared/staged/work-message.ts';
import { workTopic } from './work-topic.ts';
import {
  aggregateFamily,
  connect,
  createTable,
  INSTANCE,
  type RawClient,
  readRows,
  type ReadRow,
} from './bigtable-raw-client.ts';
import { pushBody, type TestMessage } from './push-body.ts';
import { type Answer, InstanceSignals, type LogLine, sumOf } from './sink-harness.ts';
import { testRuntime } from './runtime.ts';

export interface StagedOptions {
  /** Options of the pipeline over those of the harness. */
  readonly pipeline?: Readonly<Record<string, unknown>>;
}

/**
 * The functions of a staged pipeline over an embedded Bigtable and an embedded Firestore: pushes are handed to them as
 * the framework would; a test plays the scheduler and Pub/Sub. The table `t` has the families `f`, `sums` (int64-sum)
 * and `markers`.
 */
export interface StagedHarness extends AsyncDisposable {
  readonly bigtable: LocalBigtable;
  readonly firestore: LocalFirestore;
  readonly client: RawClient;
  readonly logs: readonly LogLine[];
  /** One push to `stagedSink`. */
  push(message: TestMessage): Promise<Answer>;
  /** One push of the topic for replays to `stagedSink`. */
  pushLetter(message: TestMessage): Promise<Answer>;
  /** Another instance of `stagedSink`. */
  another(): Promise<(message: TestMessage) => Promise<Answer>>;
  /** One tick of the coordinator: the work that it sends out. */
  tick(): Promise<readonly CommitWork[]>;
  /** One push to `commitStaged`, or of any other data. */
  commit(work: CommitWork | Buffer): Promise<Answer>;
  rows(): Promise<ReadRow[]>;
  count(metric: string, label?: string): number;
}

export const PIPELINE = 'orders';

const STAGING = {
  checkpointIntervalMillis: 1000,
  maxStagedEntries: 100_000,
  maxStagedBytes: 64 * 1024 * 1024,
  patienceMillis: 600_000,
};

export async function startStaged({ pipeline }: StagedOptions = {}): Promise<StagedHarness> {
  const bigtable = await startBigtableServer();
  const firestore = await startFirestoreServer();
  const client = connect(bigtable.address);
  await createTable(client, 't', { f: {}, markers: {}, sums: aggregateFamily('sum') });
  const before = process.env.FIRESTORE_EMULATOR_HOST;
  // The client reads it when it is made, which is at the first call of a store.
  process.env.FIRESTORE_EMULATOR_HOST = firestore.address;

  const logs: LogLine[] = [];
  const instances: InstanceSignals[] = [];
  const env: Environment = {
    CONNECTOR_CONFIG: JSON.stringify({ pipelines: { [PIPELINE]: { ...basePipeline(bigtable.address), ...pipeline } } }),
  };
  const start = async (make: (env: Environment, surroundings: Surroundings) => Promise<Handler>): Promise<Handler> => {
    const signals = new InstanceSignals();
    const handler = await make(env, {
      clock: systemClock,
      random: systemRandom,
      signals,
      writeLine: (line) => logs.push(JSON.parse(line) as LogLine),
    });
    instances.push(signals);
    return handler;
  };
  const pushesTo =
    (handler: Handler, path = '/') =>
    async (message: TestMessage): Promise<Answer> => {
      const { status, text = '' } = await handler(pushBody(message), path);
      return { status, text };
    };
  const sink = await start(startStagedSink);
  let committer: Promise<Handler> | undefined;
  let database: StageDatabase | undefined;

  return {
    bigtable,
    firestore,
    client,
    logs,
    push: pushesTo(sink),
    pushLetter: pushesTo(sink, '/letters'),
    another: async () => pushesTo(await start(startStagedSink)),
    async tick() {
      database ??= createStageDatabase({ databaseId: '(default)', projectId: 'p' });
      return oneTick(database, env);
    },
    async commit(work) {
      committer ??= start(startCommitStaged);
      return pushesTo(await committer)({ data: Buffer.isBuffer(work) ? work : encodeWork(work) });
    },
    rows: () => readRows(client, `${INSTANCE}/tables/t`),
    count: (metric, label) => sumOf(logs, metric, label),
    async [Symbol.asyncDispose]() {
      for (const signals of instances) await signals.terminate();
      await database?.close();
      client.close();
      await firestore.close();
      await bigtable.close();
      if (before === undefined) Reflect.deleteProperty(process.env, 'FIRESTORE_EMULATOR_HOST');
      else process.env.FIRESTORE_EMULATOR_HOST = before;
    },
  };
}

const basePipeline = (address: string): object => ({
  kind: 'staged-sink',
  topic: 'projects/p/topics/records',
  project: 'p',
  instance: 'i',
  table: 't',
  serializer: 'entry',
  markerFamily: 'markers',
  emulatorEndpoint: address,
  metricsFlushInterval: '0ms',
});

async function oneTick(database: StageDatabase, env: Environment): Promise<readonly CommitWork[]> {
  const { pipeline } = await loadPipeline(env, 'staged-sink');
  if (pipeline.commit.when !== 'on-checkpoint') throw new TypeError('nothing is staged');
  const fingerprint = ownFingerprintOf(pipeline, pipeline.commit);
  const sent: CommitWork[] = [];
  const store = database.stores(PIPELINE).coordinator;
  const decider = checkpointDecider(
    PIPELINE,
    { ...STAGING, fingerprint },
    {
      store,
      topic: workTopic((work) => sent.push(work)),
      runtime: testRuntime({ clock: systemClock }),
    },
  );
  await createTicks(decider, { store, clock: systemClock, owner: 'coordinator' }).tick(AbortSignal.timeout(10_000));
  return sent;
}
