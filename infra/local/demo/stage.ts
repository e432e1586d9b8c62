import type { Table } from '@google-cloud/bigtable';
import type { PubSub, Topic } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../shared/base/clock.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import type { LocalCloud } from '../cloud/cloud.ts';
import type { RunningPipeline } from '../run/connector.ts';
import type { SubscriptionCounters } from '../servers/pubsub/resources/subscription-context.ts';
import { ensureTables } from '../cloud/table-resources.ts';
import { DEMO_PIPELINES, type DemoPipelineName } from './demo-pipelines.ts';
import { FunctionMetrics } from './function-metrics.ts';
import { openPlatform, type PlatformOptions } from './platform.ts';

export interface StageOptions extends Pick<PlatformOptions, 'timeScale' | 'pushConcurrency' | 'source'> {
  /** Default: `flights`, the one with a serializer of its own. */
  readonly pipeline?: DemoPipelineName | undefined;
  /** Takes the lines of the function's log. */
  readonly onLine?: (line: string) => void;
}

/** What a run of one bulk sink needs: the function and its table, what both count, and what the run does to them. */
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

export async function openStage({ pipeline: name = 'flights', onLine, ...options }: StageOptions): Promise<Stage> {
  const { configFile, tablesFile } = DEMO_PIPELINES[name];
  const metrics = new FunctionMetrics();
  await using opened = new AsyncDisposableStack();
  const platform = opened.use(
    await openPlatform({
      ...{ configFile, tablesFile, ...options },
      onLine: (_pipeline, line) => {
        metrics.add(line);
        onLine?.(line);
      },
    }),
  );
  const { cloud, connector, servers, pubsub, tableOf } = platform;
  const [pipeline] = connector.pipelines;
  if (!pipeline?.table) throw new TypeError('the demo needs a pipeline with a table');
  const { project, instance, table } = pipeline.table;
  const counters = (): SubscriptionCounters => servers.pubsub.counters(pipeline.input.name);
  const all = opened.move();
  return {
    ...{ cloud, pipeline, metrics, pubsub, counters },
    topic: pubsub.topic(pipeline.input.topic),
    table: tableOf(pipeline.table),
    async untilBacklogIs(messages, signal) {
      while (counters().backlog > messages) await sleep(systemClock, POLL_MILLIS, signal);
    },
    addReviewFamily: () =>
      ensureTables(cloud.bigtableHost, [{ name: tableName(project, instance, table), families: { review: {} } }]),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
