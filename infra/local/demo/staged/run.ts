import { fileURLToPath } from 'node:url';
import { loadDepartures } from '../base/departures.ts';
import { openPlatform, type Platform } from '../base/platform.ts';
import type { Progress } from '../base/progress.ts';
import { count } from '../base/report.ts';
import { type Outcome, runAndReport, type RunOptions } from '../base/run.ts';
import { openStagedState, type StagedState } from './checkpoints.ts';
import { disturb, VICTIM } from './disturb.ts';
import { Letters } from './letters.ts';
import { publishRemarks } from './missing-family.ts';
import { copiesOf, departuresOf, planMessages, refusedBy, remarksOf, type StagedPlan } from './plan.ts';
import { openPublishing, type Publishing } from './publish.ts';
import { compareMarkedTable, type MarkedTable } from './read-back.ts';
import { describeStaged, introduceStaged } from './report.ts';
import { tally } from './tally.ts';
import { makeTrouble, type Trouble } from './trouble.ts';
import { type TableId, truthOf, type Truth } from './truth.ts';
import { judgeStaged, type StagedObserved, type StagedTables } from './verdict.ts';
import { Watch } from './watch.ts';

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Divides the waiting times of Pub/Sub only; the waits of the connector last as long as they do in production. */
const TIME_SCALE = 10;
/** So that several checkpoints are made, whatever the count. */
const PUBLISHING_SECONDS = 12;
/** The pipeline whose poison records stay set apart: it publishes no dead letters. */
const FOREVER = 'flights';

/** Everything of one run. */
interface Run {
  readonly platform: Platform;
  readonly plan: StagedPlan;
  readonly truth: Truth;
  readonly stored: StagedState;
  readonly publishing: Publishing;
  readonly letters: Letters;
  readonly trouble: Trouble;
  readonly watch: Watch;
}

/**
 * The run of the staged sink: flights become sums and rows, each exactly once, while messages are delivered again,
 * answers are lost, records are refused, a family is missing, and a committer is killed with writes applied and not
 * answered. True when everything is exact.
 */
export async function runStagedDemo({ flights, source, functionTimeScale, out, signal }: RunOptions): Promise<boolean> {
  const plan = planMessages(await loadDepartures(flights));
  const truth = truthOf(plan);
  await using platform = await openPlatform({
    ...{ configFile: file('connector.yaml'), tablesFile: file('tables.yaml'), timeScale: TIME_SCALE },
    ...{ source, functionTimeScale },
  });
  const { cloud, connector, servers, pubsub } = platform;
  await using stored = openStagedState(cloud.firestoreHost, cloud.env.GOOGLE_CLOUD_PROJECT ?? 'local');
  const ofVictim = connector.pipelines.find(({ name }) => name === VICTIM);
  const letters = new Letters(pubsub, ofVictim?.deadLetters?.name ?? '');
  out.write(introduceStaged(platform, plan, truth));
  const run: Run = {
    ...{ platform, plan, truth, stored, letters },
    publishing: openPublishing(platform),
    trouble: makeTrouble(platform, VICTIM, plan.hub),
    watch: new Watch(connector.pipelines, servers.pubsub, stored, FOREVER),
  };
  try {
    return await runAndReport(
      out,
      () => describeProgress(run),
      (progress) => runAndJudge(run, progress, signal),
    );
  } finally {
    await letters.stop();
  }
}

async function runAndJudge(run: Run, progress: Progress, signal: AbortSignal): Promise<Outcome> {
  const { platform, plan, truth, stored, publishing, letters, trouble, watch } = run;
  let isPublished = false;
  const all = Promise.all([
    disturb({ platform, plan, publishing, trouble, watch }, progress, signal),
    publishRemarks(run, progress, signal),
    publishing.departures(plan.steady, signal, PUBLISHING_SECONDS),
  ]).finally(() => {
    isPublished = true;
  });
  const [[disturbed, withoutFamily]] = await Promise.all([all, watch.untilDrained(() => isPublished, signal)]);
  const filed = await letters.tally(refusedBy(VICTIM, plan.steady), publishing.published, signal);
  for (const { process: running } of platform.connector.functions.toReversed()) await running.stop();

  progress.say('everything is committed; the tables are read back with the official client');
  const observed: StagedObserved = {
    messages: publishing.published.size,
    waitingMessages: watch.waitingMessages,
    segments: watch.segments,
    openCheckpoints: watch.openCheckpoints,
    tables: await readTables(platform, truth),
    letters: filed,
    ...(await readForever(stored, publishing, watch)),
    withoutFamily,
    passingRests: watch.passingRests,
    ...disturbed,
    hotRequests: trouble.hotRequests(),
    deduplicated: platform.metrics.total('requestsDeduplicated'),
  };
  const checks = judgeStaged(plan, truth, observed);
  return { checks, report: describeStaged({ checks, checkpoints: watch.checkpoints, observed, trouble, platform }) };
}

/** What stays set apart, and the checkpoints that held nothing of the kind. */
async function readForever(
  stored: StagedState,
  { published }: Publishing,
  { checkpoints }: Watch,
): Promise<Pick<StagedObserved, 'forever' | 'checkpointsWithoutPoison'>> {
  const rests = await stored.setApart(FOREVER);
  const poisoned = new Set(rests.map(({ checkpoint }) => checkpoint));
  const own = checkpoints.filter(({ pipeline }) => pipeline === FOREVER);
  return {
    forever: tally(
      rests.flatMap(({ records }) => records),
      published,
      FOREVER,
    ),
    checkpointsWithoutPoison: own.filter(({ number }) => !poisoned.has(number)).length,
  };
}

async function readTables({ connector, tableOf }: Platform, truth: Truth): Promise<StagedTables> {
  const read = (name: TableId): Promise<MarkedTable> => {
    const table = connector.pipelines.find((one) => one.table?.table === name)?.table;
    if (!table) throw new TypeError(`no pipeline writes ${name}`);
    return compareMarkedTable(tableOf(table), truth[name].rows);
  };
  return { airports: await read('airports'), departures: await read('departures'), remarks: await read('remarks') };
}

function describeProgress({ platform: { servers }, plan, publishing, watch }: Run): string {
  const messages = copiesOf([...departuresOf(plan), ...remarksOf(plan)]);
  return [
    `published ${count(publishing.published.size)} of ${count(messages)} messages, ${count(watch.waitingMessages)} wait`,
    `segments ${watch.segments}, set apart ${watch.rests}`,
    `checkpoints ${watch.checkpoints.length}, ${watch.openCheckpoints} open`,
    `conditional writes ${count(servers.bigtable.requestCounts().CheckAndMutateRow ?? 0)}`,
  ].join(' · ');
}
