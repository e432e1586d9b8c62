import { ownFingerprintOf } from '../../functions/parts/own-fingerprint.ts';
import { loadPipeline } from '../../shared/config/load.ts';
import type { Handler } from '../../functions/parts/entry-point.ts';
import { startCommitStaged } from '../../functions/commit-staged.ts';
import { startStagedSink } from '../../functions/staged-sink.ts';
import type { Environment, Surroundings } from '../../functions/parts/surroundings.ts';
import {
  type LocalBigtable,
  type LocalBigtableOptions,
  startBigtableServer,
} from '../../infra/local/servers/bigtable/server.ts';
import { type LocalFirestore, startFirestoreServer } from '../../infra/local/servers/firestore/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { systemRandom } from '../../shared/base/random.ts';
import { createDatabase, type Database } from '../../shared/google/firestore/database.ts';
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
import { takenPush, type TestMessage } from './push-body.ts';
import { type Answer, InstanceSignals, type LogLine, sumOf } from './sink-harness.ts';
import { testRuntime } from './runtime.ts';

export interface StagedOptions {
  /** Options of the pipeline over those of the harness. */
  readonly pipeline?: Readonly<Record<string, unknown>>;
  /** Of the Bigtable: its clusters, its profiles, a clock of its own. */
  readonly bigtable?: LocalBigtableOptions;
}

/** The functions of one revision of the pipeline. */
export interface Revision {
  /** One push to `stagedSink`. */
  push(message: TestMessage): Promise<Answer>;
  /** One tick of the coordinator: the work that it sends out. */
  tick(): Promise<readonly CommitWork[]>;
  /** One push to `commitStaged`, or of any other data. */
  commit(work: CommitWork | Buffer): Promise<Answer>;
}

/**
 * The functions of a staged pipeline over an embedded Bigtable and an embedded Firestore: pushes are handed to them as
 * the framework would; a test plays the scheduler and Pub/Sub. The table `t` has the families `f`, `sums` (int64-sum)
 * and `markers`.
 */
export interface StagedHarness extends AsyncDisposable, Revision {
  readonly bigtable: LocalBigtable;
  readonly firestore: LocalFirestore;
  readonly client: RawClient;
  readonly logs: readonly LogLine[];
  /** One push of the topic for replays to `stagedSink`. */
  pushLetter(message: TestMessage): Promise<Answer>;
  /** Another instance of `stagedSink`. */
  another(): Promise<(message: TestMessage) => Promise<Answer>>;
  /** New instances, with options over those of the harness, beside those that are there. */
  revision(pipeline: Readonly<Record<string, unknown>>): Promise<Revision>;
  /** @param appProfileId default: the default profile. */
  rows(appProfileId?: string): Promise<ReadRow[]>;
  count(metric: string, label?: string): number;
}

export const PIPELINE = 'orders';

const STAGING = {
  checkpointIntervalMillis: 1000,
  maxStagedEntries: 100_000,
  maxStagedBytes: 64 * 1024 * 1024,
  patienceMillis: 600_000,
};

export async function startStaged({ pipeline, bigtable: served = {} }: StagedOptions = {}): Promise<StagedHarness> {
  const bigtable = await startBigtableServer(served);
  const firestore = await startFirestoreServer();
  const client = connect(bigtable.address);
  await createTable(client, 't', { f: {}, markers: {}, sums: aggregateFamily('sum') });
  const before = process.env.FIRESTORE_EMULATOR_HOST;
  // The client reads it when it is made, which is at the first call of a store.
  process.env.FIRESTORE_EMULATOR_HOST = firestore.address;

  const logs: LogLine[] = [];
  const instances: InstanceSignals[] = [];
  const envOf = (more: Readonly<Record<string, unknown>>): Environment => ({
    CONNECTOR_CONFIG: JSON.stringify({
      pipelines: { [PIPELINE]: { ...basePipeline(bigtable.address), ...pipeline, ...more } },
    }),
  });
  const start = async (
    env: Environment,
    make: (env: Environment, surroundings: Surroundings) => Promise<Handler>,
  ): Promise<Handler> => {
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
      const { status, text = '' } = await handler(takenPush(message), path);
      return { status, text };
    };
  let database: Database | undefined;
  const revisionOf = (env: Environment, sink: Handler): Revision => {
    let committer: Promise<Handler> | undefined;
    return {
      push: pushesTo(sink),
      async tick() {
        database ??= createDatabase({ databaseId: '(default)', projectId: 'p' });
        return oneTick(database, env);
      },
      async commit(work) {
        committer ??= start(env, startCommitStaged);
        return pushesTo(await committer)({ data: Buffer.isBuffer(work) ? work : encodeWork(work) });
      },
    };
  };
  const env = envOf({});
  const sink = await start(env, startStagedSink);

  return {
    ...revisionOf(env, sink),
    bigtable,
    firestore,
    client,
    logs,
    pushLetter: pushesTo(sink, '/letters'),
    another: async () => pushesTo(await start(env, startStagedSink)),
    async revision(more) {
      const other = envOf(more);
      return revisionOf(other, await start(other, startStagedSink));
    },
    rows: (appProfileId = '') => readRows(client, `${INSTANCE}/tables/t`, { appProfileId }),
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

async function oneTick(database: Database, env: Environment): Promise<readonly CommitWork[]> {
  const { pipeline } = await loadPipeline(env, 'staged-sink');
  if (pipeline.commit.when !== 'on-checkpoint') throw new TypeError('nothing is staged');
  const fingerprint = ownFingerprintOf(pipeline, pipeline.commit);
  const sent: CommitWork[] = [];
  const store = database.stage(PIPELINE).coordinator;
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
