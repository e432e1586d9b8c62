import { fileURLToPath } from 'node:url';
import { loadDepartures } from '../base/departures.ts';
import { openPlatform, type Platform } from '../base/platform.ts';
import type { Progress } from '../base/progress.ts';
import { publishAll } from '../base/publish.ts';
import { count } from '../base/report.ts';
import { runAndReport, type RunOptions } from '../base/run.ts';
import { openStagedState } from './checkpoints.ts';
import { dataOf, planMessages, type StagedMessage } from './plan.ts';
import { compareMarkedTable, type MarkedTable } from './read-back.ts';
import { describeStaged, introduceStaged } from './report.ts';
import { makeTrouble, postBeside, type Trouble } from './trouble.ts';
import { truthOf, type Truth } from './truth.ts';
import { judgeStaged, type StagedTables } from './verdict.ts';
import { Watch } from './watch.ts';

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Divides the waiting times of Pub/Sub only; the leases of the connector last as long as they do in production. */
const TIME_SCALE = 10;
/** So that several checkpoints are made, whatever the count. */
const PUBLISHING_SECONDS = 12;
/** The pipeline whose committer is killed. */
const VICTIM = 'airports';

/**
 * The run of the staged sink: flights become sums and rows, each exactly once, while messages are delivered again,
 * answers are lost, and a committer is killed with writes applied and not answered. True when everything is exact.
 */
export async function runStagedDemo({ flights, source, functionTimeScale, out, signal }: RunOptions): Promise<boolean> {
  const plan = planMessages(await loadDepartures(flights));
  const truth = truthOf(plan);
  await using platform = await openPlatform({
    ...{ configFile: file('connector.yaml'), tablesFile: file('tables.yaml'), timeScale: TIME_SCALE },
    ...{ source, functionTimeScale },
  });
  const { cloud, connector, metrics, servers } = platform;
  await using stored = openStagedState(cloud.firestoreHost, cloud.env.GOOGLE_CLOUD_PROJECT ?? 'local');
  out.write(introduceStaged(platform, plan, truth));
  const trouble = makeTrouble(platform, VICTIM);
  const watch = new Watch(connector.pipelines, servers.pubsub, stored);
  const published = new Map<string, StagedMessage>();
  const messages = plan.reduce((sum, { copies }) => sum + copies, 0);
  const state = (): string => describeProgress(platform, watch, published.size, messages);
  return await runAndReport(out, state, async (progress) => {
    let isPublished = false;
    const publishing = publishSteadily(platform, plan, published, signal).then(() => {
      isPublished = true;
    });
    const [disturbed] = await Promise.all([
      disturb(platform, trouble, progress, signal),
      publishing,
      watch.untilDrained(() => isPublished, signal),
    ]);
    for (const { process: running } of connector.functions.toReversed()) await running.stop();

    progress.say('everything is committed; both tables are read back with the official client');
    const checks = judgeStaged(truth, messages, {
      messages: published.size,
      waitingMessages: watch.waitingMessages,
      segments: watch.segments,
      openCheckpoints: watch.openCheckpoints,
      tables: await readTables(platform, truth),
      ...disturbed,
      deduplicated: metrics.total('requestsDeduplicated'),
    });
    return { checks, report: describeStaged({ checks, checkpoints: watch.checkpoints, trouble, platform }) };
  });
}

interface Disturbed {
  readonly unanswered: number;
  readonly held: number;
}

/**
 * Kills the committer in the middle of a drain, and has coordinators come while another is at it. Two come at once: where
 * they meet the moment between two invocations of the scheduler, one of them takes the lease and the other leaves it.
 */
async function disturb(
  { connector }: Platform,
  trouble: Trouble,
  progress: Progress,
  signal: AbortSignal,
): Promise<Disturbed> {
  const unanswered = await trouble.untilAnswersAreLost(signal);
  const { process: committer } = connector.functionOf('commitStaged', VICTIM);
  const { pid } = committer;
  await committer.kill();
  progress.say(
    `the committer of ${VICTIM} (process ${pid}) was killed with ${unanswered} writes applied and not answered; Pub/Sub delivers its work again, and the markers tell what is applied`,
  );
  await committer.restart();
  const coordinate = connector.functionOf('coordinate');
  const outcomes = (await Promise.all([postBeside(coordinate, signal), postBeside(coordinate, signal)])).flat();
  const pipelinesOf = (some: typeof outcomes): number => new Set(some.map(({ pipeline }) => pipeline)).size;
  const held = pipelinesOf(outcomes.filter(({ outcome }) => outcome === 'held'));
  progress.say(
    `coordinators were sent beside one another: ${held} of ${pipelinesOf(outcomes)} pipelines were left to the one that had them`,
  );
  return { unanswered, held };
}

/** Spread evenly, so that every checkpoint has something to do. */
async function publishSteadily(
  { connector, pubsub }: Platform,
  plan: readonly StagedMessage[],
  published: Map<string, StagedMessage>,
  signal: AbortSignal,
): Promise<void> {
  const topic = pubsub.topic(connector.pipelines[0]?.input.topic ?? '');
  const bodyOf = (message: StagedMessage): { data: Buffer; attributes?: Record<string, string> } => ({
    data: dataOf(message),
    ...(message.id !== undefined && { attributes: { batch: message.id } }),
  });
  await publishAll(plan, published, bodyOf, { topic, signal, perSecond: plan.length / PUBLISHING_SECONDS });
}

async function readTables({ connector, tableOf }: Platform, { tables }: Truth): Promise<StagedTables> {
  const read = (name: keyof Truth['tables']): Promise<MarkedTable> => {
    const table = connector.pipelines.find((one) => one.table?.table === name)?.table;
    if (!table) throw new TypeError(`no pipeline writes ${name}`);
    return compareMarkedTable(tableOf(table), tables[name]);
  };
  return { airports: await read('airports'), departures: await read('departures') };
}

function describeProgress({ servers }: Platform, watch: Watch, published: number, messages: number): string {
  return [
    `published ${count(published)} of ${count(messages)} messages, ${count(watch.waitingMessages)} wait`,
    `segments ${watch.segments}`,
    `checkpoints ${watch.checkpoints.length}, ${watch.openCheckpoints} open`,
    `conditional writes ${count(servers.bigtable.requestCounts().CheckAndMutateRow ?? 0)}`,
  ].join(' · ');
}
