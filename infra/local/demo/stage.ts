import { Bigtable, type Table } from '@google-cloud/bigtable';
import { PubSub, type Topic } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../shared/base/clock.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { startLocalCloud, type LocalCloud } from '../cloud.ts';
import { startLocalConnector, type RunningPipeline } from '../connector.ts';
import type { SubscriptionCounters } from '../pubsub/live-subscription.ts';
import { ensureTables } from '../table-resources.ts';
import { DEMO_PIPELINES, type DemoPipelineName } from './demo-pipelines.ts';
import { FunctionMetrics } from './function-metrics.ts';

export interface StageOptions {
  /** Default: `flights`, the one with a serializer of its own. */
  readonly pipeline?: DemoPipelineName | undefined;
  /** Divides the waiting times of Pub/Sub: with 10, a refused message comes back after 1 s at the earliest. */
  readonly timeScale: number;
  /** Pushes under way at once. Default: that of the embedded Pub/Sub. */
  readonly pushConcurrency?: number | undefined;
  /** Where the function comes from. Default: this repository; else the folder of a bundle. */
  readonly source?: string | undefined;
  /** Takes the lines of the function's log. */
  readonly onLine?: (line: string) => void;
}

/** Everything a run needs: embedded servers in this process, the function in its own, and Google's clients for both. */
export interface Stage extends AsyncDisposable {
  readonly cloud: LocalCloud;
  readonly pipeline: RunningPipeline;
  readonly metrics: FunctionMetrics;
  readonly pubsub: PubSub;
  readonly topic: Topic;
  readonly table: Table;
  /** What the subscription has seen so far. */
  readonly counters: () => SubscriptionCounters;
  /** Waits until at most this many messages are not acknowledged. */
  readonly untilBacklogIs: (messages: number, signal: AbortSignal) => Promise<void>;
  /** Adds the column family that the held records name, as an operator would. */
  readonly addReviewFamily: () => Promise<void>;
}

const POLL_MILLIS = 20;

/** Always the embedded servers, whatever the environment names: the demo counts on what they count. */
export async function openStage({
  pipeline: name = 'flights',
  timeScale,
  pushConcurrency,
  source,
  onLine,
}: StageOptions): Promise<Stage> {
  const { configFile, tablesFile } = DEMO_PIPELINES[name];
  await using opened = new AsyncDisposableStack();
  const cloud = await startLocalCloud({
    mode: 'embedded',
    timeScale,
    ...(pushConcurrency !== undefined && { pushConcurrency }),
    env: {},
  });
  opened.defer(() => cloud.close());
  const metrics = new FunctionMetrics();
  const connector = await startLocalConnector({
    cloud,
    configFile,
    tablesFile,
    ...(source !== undefined && { source }),
    onLine: (_pipeline, line) => {
      metrics.add(line);
      onLine?.(line);
    },
  });
  opened.defer(() => connector.stop());
  const [pipeline] = connector.pipelines;
  const { pubsub: server } = cloud;
  if (!pipeline?.table || !server) throw new TypeError('the demo needs a pipeline with a table, and embedded servers');

  const { project, instance, table } = pipeline.table;
  const pubsub = new PubSub({ projectId: project, apiEndpoint: cloud.pubsubHost, emulatorMode: true });
  opened.defer(() => pubsub.close());
  // Its own metrics exporter would end the process: it looks for credentials that are not here.
  const bigtable = new Bigtable({ projectId: project, apiEndpoint: cloud.bigtableHost, metricsEnabled: false });
  opened.defer(() => bigtable.close().then(() => undefined));
  const all = opened.move();
  const counters = (): SubscriptionCounters => server.counters(pipeline.source.subscription);
  return {
    cloud,
    pipeline,
    metrics,
    pubsub,
    topic: pubsub.topic(pipeline.source.topic),
    table: bigtable.instance(instance).table(table),
    counters,
    async untilBacklogIs(messages, signal) {
      while (counters().backlog > messages) await sleep(systemClock, POLL_MILLIS, signal);
    },
    addReviewFamily: () =>
      ensureTables(cloud.bigtableHost, [{ name: tableName(project, instance, table), families: { review: {} } }]),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
