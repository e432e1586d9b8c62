import { fileURLToPath } from 'node:url';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { LocalCloudError } from '../../base/local-error.ts';
import { type LocalConnector, startLocalConnector } from '../../run/connector.ts';
import { FunctionMetrics } from '../base/function-metrics.ts';
import type { Servers } from '../base/platform.ts';
import type { Progress } from '../base/progress.ts';
import { count } from '../base/report.ts';
import { type Outcome, runAndReport, type RunOptions } from '../base/run.ts';
import { cellsIn, readSnapshot, type Snapshot } from './cells.ts';
import { Consumer } from './consumer.ts';
import { compareCopy, copyTable } from './copy.ts';
import {
  type Disturbing,
  type Killed,
  killSlot,
  moveTablets,
  refusePublishes,
  stopSlot,
  watchTakeOver,
} from './disturb.ts';
import { Letters } from './letters.ts';
import { describeScan, introduceScan } from './report.ts';
import { isLeft, repeatsIn } from './repeats.ts';
import { planTable, type TablePlan } from './rows.ts';
import { openScanState, type RunState, type ScanState } from './scan-state.ts';
import { COPY, openTable, readerOf, rowsOf, TABLE } from './stage.ts';
import { startRun } from './start-run.ts';
import { makeTrouble, type Trouble } from './trouble.ts';
import { judgeScan, type ScanObserved } from './verdict.ts';

const CONFIG = fileURLToPath(new URL('connector.yaml', import.meta.url));
const RUN = { configFile: CONFIG, pipeline: 'flights', run: 'demo' };
const LOOK_MILLIS = 200;

/** Without trouble the table is read within this: long enough that there is time for it, whatever the count. */
const READING_SECONDS = 20;
/** Where clocks run faster, by their time: a split lasts two commits, so that a slot is found in the middle of some. */
const FASTER_READING_SECONDS = 40;
/** Streams that are read at the same time: four slots, four splits each. */
const STREAMS = 16;

/** Everything of one run. */
interface Run {
  readonly options: RunOptions;
  readonly plan: TablePlan;
  readonly servers: Servers;
  readonly connector: LocalConnector;
  readonly state: ScanState;
  readonly trouble: Trouble;
  readonly table: Snapshot;
  readonly consumer: Consumer;
  readonly letters: Letters;
  readonly metrics: FunctionMetrics;
}

/**
 * The run of the scan source: a table is read once and handed to a topic, while its tablets move, the topic refuses, one
 * slot is killed and one is stopped; then it is copied into another table. True when topic, letters and copy are the table.
 */
export async function runScanDemo(options: RunOptions): Promise<boolean> {
  const { flights: rows, functionTimeScale, out, source } = options;
  const plan = planTable(rows);
  out.write(
    `A table is filled with ${count(rows)} rows, and read with the official client while the functions start.\n\n`,
  );
  await using opened = new AsyncDisposableStack();
  const servers = opened.use(await openTable(plan, functionTimeScale));
  const { cloud, pubsub, tableOf } = servers;
  const trouble = makeTrouble(servers, TABLE, `projects/local/topics/flights`, paceOf(rows, functionTimeScale));
  // Before a slot is there: their first attempts find it.
  await startRun(cloud, RUN);
  const metrics = new FunctionMetrics();
  const starting = startLocalConnector({
    ...{
      cloud,
      configFile: CONFIG,
      onLine: (_label: string, line: string) => {
        metrics.add(line);
      },
    },
    ...(functionTimeScale !== undefined && { functionTimeScale }),
    ...(source !== undefined && { source }),
  });
  const [connector, table] = await Promise.all([starting, readSnapshot(tableOf(TABLE), plan.largeKey)]);
  opened.defer(() => connector.stop());
  const state = opened.use(openScanState(cloud.firestoreHost, cloud.env.GOOGLE_CLOUD_PROJECT ?? 'local'));
  const consumer = new Consumer(pubsub, readerOf(connector, 'output'), table);
  opened.defer(() => consumer.stop());
  const letters = new Letters(pubsub, readerOf(connector, 'dead-letters'));
  opened.defer(() => letters.stop());
  const run: Run = { options, plan, servers, connector, state, trouble, table, consumer, letters, metrics };
  out.write(introduceScan(run));
  return await runAndReport(
    out,
    () => describeProgress(run),
    (progress) => runAndJudge(run, progress),
  );
}

/** Servers and consumer share a process, and must keep up with the readers: who is killed is chosen by what has come. */
const MOST_ROWS_PER_SECOND = 12_000;

/** Rows a second of one stream. */
function paceOf(rows: number, functionTimeScale = 1): number {
  const usual = functionTimeScale > 1 ? FASTER_READING_SECONDS / functionTimeScale : READING_SECONDS;
  return rows / STREAMS / Math.max(usual, rows / MOST_ROWS_PER_SECOND);
}

async function runAndJudge(run: Run, progress: Progress): Promise<Outcome> {
  const { plan, servers, connector, state, consumer, letters, table, trouble, options, metrics } = run;
  const { signal } = options;
  // All but the row that the module refuses.
  const expected = table.size - 1;
  const { slots } = connector.functionOf('readScan', RUN.pipeline);
  const disturbing: Disturbing = { pipeline: RUN.pipeline, slots, state, consumer, trouble, expected };
  const killing = killSlot(disturbing, progress, signal);
  const takingOver = killing.then((killed) => watchTakeOver(disturbing, killed, progress, signal));
  // It is waited for only after what may fail before it.
  takingOver.catch(() => undefined);
  const [killed, stopped] = await Promise.all([
    killing,
    stopSlot(disturbing, killing, progress, signal),
    moveTablets(disturbing, signal),
    refusePublishes(disturbing, progress, signal),
  ]);
  await untilRestIsLeft(run, killed, expected);
  trouble.speedUp();
  progress.say(
    `${count(consumer.distinct)} rows were handed on; the rest waits for the lease of slot ${killed.slot}, and meanwhile the table is copied into another one`,
  );
  const copying = copyTable(
    {
      servers,
      state,
      options,
      onLine: (_label, line) => {
        metrics.add(line);
      },
    },
    plan.largeKey,
  );
  const [ended, copied] = await Promise.all([untilDone(run), copying, takingOver]);
  await consumer.until(() => consumer.distinct >= expected && consumer.completed.length > 0, signal);

  const observed: ScanObserved = {
    rowsStored: rowsOf(servers.servers.bigtable, TABLE),
    table: { rows: table.size, cells: cellsIn(table) },
    consumed: consumer,
    repeated: repeatsIn(consumer.received, killed.held),
    uncommitted: killed.published,
    isTaken: killed.takenAfterMillis !== undefined,
    leftByStop: stopped.left,
    moves: trouble.moves,
    refusals: trouble.refusals,
    letters: await letters.read(2, signal),
    totals: ended.totals,
    told: consumer.completed[0],
    isToldEarly: consumer.firstToldAt === undefined || consumer.firstToldAt < consumer.lastRowsAt,
    copy: compareCopy(copied, table),
  };
  const checks = judgeScan(plan, observed);
  const report = describeScan({
    checks,
    observed,
    killed,
    stopped,
    ended,
    copied,
    consumer,
    trouble,
    metrics,
    options,
  });
  return { checks, report };
}

/** Waits until all came but what was left of the killed slot's splits, or that is being read already. */
async function untilRestIsLeft({ table, consumer, options }: Run, killed: Killed, expected: number): Promise<void> {
  let left = 0;
  for (const key of table.keys()) if (killed.held.some((one) => isLeft(key, one))) left += 1;
  while (consumer.distinct < expected - left && killed.takenAfterMillis === undefined) {
    await sleep(systemClock, LOOK_MILLIS, options.signal);
  }
}

type EndedRun = RunState & Required<Pick<RunState, 'totals' | 'endedAt'>>;

/** Waits until the run is done, and its end told. */
async function untilDone({ state, options }: Run): Promise<EndedRun> {
  for (;;) {
    const now = await state.run(RUN.pipeline, RUN.run);
    const { totals, endedAt } = now;
    if (now.state === 'done' && now.isTold && totals && endedAt !== undefined) return { ...now, totals, endedAt };
    if (now.state === 'failed' || now.state === 'cancelled')
      throw new LocalCloudError(`the run ${now.state}: ${now.problem}`);
    await sleep(systemClock, LOOK_MILLIS, options.signal);
  }
}

function describeProgress({ consumer, table, trouble, servers }: Run): string {
  return [
    `handed on ${count(consumer.distinct)} of ${count(table.size - 1)} rows in ${count(consumer.messages)} messages`,
    `again ${count(consumer.rows - consumer.distinct)}`,
    `tablets moved ${trouble.moves}`,
    `copied ${count(rowsOf(servers.servers.bigtable, COPY))}`,
  ].join(' · ');
}
