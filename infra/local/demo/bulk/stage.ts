import type { Table } from '@google-cloud/bigtable';
import type { Topic } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import type { RunningPipeline } from '../../run/connector.ts';
import type { SubscriptionCounters } from '../../servers/pubsub/resources/subscription-context.ts';
import { ensureTables } from '../../cloud/table-resources.ts';
import { DEMO_PIPELINES, type DemoPipelineName } from './pipelines.ts';
import { openPlatform, type Platform, type PlatformOptions } from '../base/platform.ts';

export interface StageOptions extends Pick<PlatformOptions, 'timeScale' | 'pushConcurrency' | 'source'> {
  /** Default: `flights`, the one with a serializer of its own. */
  readonly pipeline?: DemoPipelineName | undefined;
  /** Takes the lines of the function's log. */
  readonly onLine?: (line: string) => void;
}

/** What a run of one bulk sink needs: the function and its table, what both count, and what the run does to them. */
export interface Stage extends Platform {
  readonly pipeline: RunningPipeline;
  readonly topic: Topic;
  readonly table: Table;
  /** What the subscription has seen so far. */
  readonly counters: () => SubscriptionCounters;
  /** Waits until at most this many messages are not acknowledged. */
  readonly untilBacklogIs: (messages: number, signal: AbortSignal) => Promise<void>;
  /** How many of these rows are there. */
  readonly countRows: (rowKeys: Iterable<string>) => Promise<number>;
  /** Adds the column family that the held records name, as an operator would. */
  readonly addReviewFamily: () => Promise<void>;
}

const POLL_MILLIS = 20;

export async function openStage({ pipeline: name = 'flights', onLine, ...options }: StageOptions): Promise<Stage> {
  const { configFile, tablesFile } = DEMO_PIPELINES[name];
  await using opened = new AsyncDisposableStack();
  const platform = opened.use(
    await openPlatform({
      ...{ configFile, tablesFile, ...options },
      onLine: (_pipeline, line) => {
        onLine?.(line);
      },
    }),
  );
  const { cloud, connector, servers, pubsub, tableOf } = platform;
  const [pipeline] = connector.pipelines;
  if (!pipeline?.table) throw new TypeError('the demo needs a pipeline with a table');
  const { project, instance, table } = pipeline.table;
  const counters = (): SubscriptionCounters => servers.pubsub.counters(pipeline.input.name);
  const rows = tableOf(pipeline.table);
  const all = opened.move();
  return {
    ...platform,
    ...{ pipeline, counters },
    topic: pubsub.topic(pipeline.input.topic),
    table: rows,
    async untilBacklogIs(messages, signal) {
      while (counters().backlog > messages) await sleep(systemClock, POLL_MILLIS, signal);
    },
    async countRows(rowKeys) {
      const keys = [...rowKeys];
      // Without a key the client reads the whole table.
      if (keys.length === 0) return 0;
      const [found] = await rows.getRows({ keys });
      return found.length;
    },
    addReviewFamily: () =>
      ensureTables(cloud.bigtableHost, [{ name: tableName(project, instance, table), families: { review: {} } }]),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
