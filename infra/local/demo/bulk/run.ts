import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { DeadLetterReader } from './dead-letters.ts';
import { DEMO_PIPELINES, type DemoPipelineName } from './pipelines.ts';
import { expectedOutcome, type Expectation } from './truth.ts';
import { loadFlights } from '../base/flights.ts';
import type { FlightForm } from './form.ts';
import { LatencyProbe, type Latency } from './latency-probe.ts';
import { planMessages, type PlannedMessage } from './plan.ts';
import type { Progress } from '../base/progress.ts';
import { publish, type Published } from './publish.ts';
import { compareTable } from '../base/read-back.ts';
import { count } from '../base/report.ts';
import { type Outcome, runAndReport, type RunOptions } from '../base/run.ts';
import { describeRun, introduce } from './report.ts';
import { openStage, type Stage } from './stage.ts';
import { judge, type Observed } from './verdict.ts';

export interface DemoOptions extends RunOptions {
  readonly pipeline: DemoPipelineName;
}

const TIME_SCALE = 10;
const STEADY_MESSAGES = 2000;
const STEADY_PER_SECOND = 200;

/**
 * The demo: publishes flights in a burst and then at a steady pace, lets the connector write them, reads what it put
 * aside, repairs what it waits for, and holds the table against what must be in it. True when everything is as it must be.
 */
export async function runDemo({ pipeline, flights, source, out, signal }: DemoOptions): Promise<boolean> {
  const { form } = DEMO_PIPELINES[pipeline];
  const plan = planMessages(await loadFlights(flights), form);
  const expected = expectedOutcome(plan, form);
  await using stage = await openStage({ pipeline, timeScale: TIME_SCALE, source });
  out.write(introduce(stage, plan, expected));
  const published: Published = new Map();
  const deadLetters = new DeadLetterReader(stage.pubsub, stage.pipeline.deadLetters?.name ?? '');
  try {
    const state = (): string => describeProgress(stage, published, expected);
    return await runAndReport(out, state, (progress) =>
      publishAndJudge({ stage, form, plan, expected, published, deadLetters, progress }, signal),
    );
  } finally {
    await deadLetters.stop();
  }
}

interface BulkRun {
  readonly stage: Stage;
  readonly form: FlightForm;
  readonly plan: readonly PlannedMessage[];
  readonly expected: Expectation;
  readonly published: Published;
  readonly deadLetters: DeadLetterReader;
  readonly progress: Progress;
}

async function publishAndJudge(run: BulkRun, signal: AbortSignal): Promise<Outcome> {
  const { stage, form, plan, expected, published, deadLetters, progress } = run;
  const [burst, steady] = splitPlan(plan);
  const burstMillis = await publishBurst(stage, burst, published, expected.held, signal);
  const latency = await publishSteadily(stage, form, steady, published, signal);
  await untilOnlyHeldRemain(stage, expected, signal);
  await deadLetters.until(sum(Object.values(expected.deadLettered)), signal);

  const heldRowsBefore = await stage.countRows(expected.heldRows);
  progress.say(
    `${stage.counters().backlog} messages wait for the column family "review"; it is added now, as an operator would`,
  );
  await stage.addReviewFamily();
  await stage.untilBacklogIs(0, signal);
  await stage.pipeline.function.stop();

  progress.say(`everything is acknowledged; ${count(expected.rows.size)} rows are read back with the official client`);
  const heldRowsAfter = await stage.countRows(expected.heldRows);
  const table = await compareTable(stage.table, expected.rows);
  const { unreadable } = latency;
  const observed = { ...observe(stage, published, deadLetters), heldRowsBefore, heldRowsAfter, unreadable, table };
  const checks = judge(expected, observed);
  const burstRecords = sum(burst.map(({ copies, records }) => copies * records.length));
  return { checks, report: describeRun({ stage, checks, observed, burstMillis, burstRecords, latency }) };
}

/** The burst is everything but records that travel alone: of those the first 2,000 are published at a steady pace. */
function splitPlan(plan: readonly PlannedMessage[]): [burst: PlannedMessage[], steady: PlannedMessage[]] {
  const isAlone = ({ records }: PlannedMessage): boolean =>
    records.length === 1 && records[0]?.fate !== 'unknown-family';
  const steady = plan.filter(isAlone).slice(0, STEADY_MESSAGES);
  const taken = new Set(steady);
  return [plan.filter((message) => !taken.has(message)), steady];
}

/** Publishes as fast as publishes are confirmed; the milliseconds until all but the held ones are acknowledged. */
async function publishBurst(
  stage: Stage,
  burst: readonly PlannedMessage[],
  published: Published,
  held: number,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  await publish(burst, published, { topic: stage.topic, signal });
  await stage.untilBacklogIs(held, signal);
  return performance.now() - startedAt;
}

/** Publishes one record a message at 200 a second and samples how long a row takes to be readable. */
async function publishSteadily(
  stage: Stage,
  { rowKeyOf }: FlightForm,
  steady: readonly PlannedMessage[],
  published: Published,
  signal: AbortSignal,
): Promise<Latency> {
  const probe = new LatencyProbe(stage.table, signal);
  await publish(steady, published, {
    topic: stage.topic,
    signal,
    perSecond: STEADY_PER_SECOND,
    onSend({ records: [record] }) {
      if (record?.fate === 'good') probe.watch(rowKeyOf(record.flight));
    },
  });
  return probe.result();
}

/** Waits until all but the held messages are acknowledged, and there was a refusal for each of those. */
async function untilOnlyHeldRemain(stage: Stage, { held }: Expectation, signal: AbortSignal): Promise<void> {
  await stage.untilBacklogIs(held, signal);
  const isUntried = (): boolean => stage.counters().backlog > 0 && stage.counters().nacked < held;
  while (isUntried()) await sleep(systemClock, POLL_MILLIS, signal);
}

const POLL_MILLIS = 20;

/** What the publisher, the subscription, the function and the dead-letter topic have counted, each for itself. */
function observe(
  { counters, metrics }: Stage,
  published: Published,
  deadLetters: DeadLetterReader,
): Omit<Observed, 'heldRowsBefore' | 'heldRowsAfter' | 'unreadable' | 'table'> {
  const { acked, backlog, delivered } = counters();
  const redelivered = metrics.byLabel('messagesRedelivered');
  return {
    messages: published.size,
    records: recordsIn(published),
    delivered,
    acknowledged: acked,
    backlog,
    applied: metrics.total('recordsApplied'),
    skipped: metrics.total('recordsSkipped'),
    requests: metrics.total('requestsSent'),
    requestsForIsolation: metrics.total('requestsForIsolation'),
    deadLetters: deadLetters.letters(published),
    redelivered,
    otherRedeliveries: sum([...redelivered].map(([reason, count]) => (reason === 'missing-family' ? 0 : count))),
  };
}

const recordsIn = (published: Published): number => sum([...published.values()].map(({ records }) => records.length));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);

function describeProgress({ counters }: Stage, published: Published, { messages, records }: Expectation): string {
  const { acked, backlog, outstandingPushes } = counters();
  return [
    `published ${count(recordsIn(published))} of ${count(records)} records`,
    `acknowledged ${count(acked)} of ${count(messages)} messages`,
    `waiting ${count(backlog)}, in flight ${outstandingPushes}`,
  ].join(' · ');
}
