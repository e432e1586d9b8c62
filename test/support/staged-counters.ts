import { fileURLToPath } from 'node:url';
import type { Row } from '@google-cloud/bigtable';
import type { RunningPipeline } from '../../infra/local/run/connector.ts';
import { openPlatform, type Platform } from '../../infra/local/demo/base/platform.ts';
import { openStagedState } from '../../infra/local/demo/staged/checkpoints.ts';
import { Watch } from '../../infra/local/demo/staged/watch.ts';
import type { FunctionProcess } from '../../infra/local/run/function-process.ts';
import { storedCells, storedKey } from '../../infra/local/run/official-rows.ts';

const file = (name: string): string => fileURLToPath(new URL(`../e2e/fixtures/counters/${name}`, import.meta.url));

/** Of Pub/Sub alone. */
const TIME_SCALE = 10;

/** A row as it must be: its sum, and one marker for each message that counted. */
export interface Counter {
  readonly sum: bigint;
  readonly markers: number;
}

/** The pipeline that counts, each of its functions in a process of its own over embedded servers in this one. */
export interface Counters extends AsyncDisposable {
  readonly platform: Platform;
  readonly pipeline: RunningPipeline;
  readonly processes: Readonly<Record<'stager' | 'committer' | 'coordinator', FunctionProcess>>;
  readonly watch: Watch;
  /** Publishes one message for each group, all at once; resolves when every one is confirmed. */
  publish(groups: readonly string[], attributes?: Record<string, string>): Promise<void>;
  /** Row key → what the table holds, read with the official client. */
  read(): Promise<ReadonlyMap<string, Counter>>;
}

/** The body of a message that counts one for its group. */
export const countedMessage = (group: string): Buffer =>
  Buffer.from(JSON.stringify({ group, micros: 1_000_000, messages: 1 }));

/** @param functionTimeScale with 10, leases of half a minute, and the minute between two posts of the scheduler, take seconds. */
export async function openCounters(functionTimeScale: number): Promise<Counters> {
  await using opened = new AsyncDisposableStack();
  const platform = opened.use(
    await openPlatform({
      ...{ configFile: file('connector.yaml'), tablesFile: file('tables.yaml') },
      ...{ timeScale: TIME_SCALE, functionTimeScale },
    }),
  );
  const { cloud, connector, servers, pubsub, tableOf } = platform;
  const [pipeline] = connector.pipelines;
  const { process: committer } = connector.functionOf('commitStaged');
  const { process: coordinator } = connector.functionOf('coordinate');
  if (!pipeline?.table) throw new TypeError('the counters are a staged pipeline');
  const state = opened.use(openStagedState(cloud.firestoreHost, cloud.env.GOOGLE_CLOUD_PROJECT ?? 'local'));
  const topic = pubsub.topic(pipeline.input.topic);
  const table = tableOf(pipeline.table);
  const all = opened.move();
  return {
    ...{ platform, pipeline },
    processes: { stager: pipeline.function, committer, coordinator },
    watch: new Watch([pipeline], servers.pubsub, state),
    async publish(groups, attributes = {}) {
      await Promise.all(groups.map((group) => topic.publishMessage({ data: countedMessage(group), attributes })));
    },
    async read() {
      const [rows] = (await table.getRows({ decode: false })) as [Row[], unknown];
      return new Map(rows.map((row) => [storedKey(row).toString(), counterOf(row)]));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function counterOf(row: Row): Counter {
  const cells = storedCells(row);
  const totals = cells.filter(({ family }) => family === 'total');
  const markers = cells.filter(({ family }) => family === 'applied').length;
  return { sum: totals.reduce((sum, { value }) => sum + value.readBigInt64BE(), 0n), markers };
}
