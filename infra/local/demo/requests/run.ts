import { fileURLToPath } from 'node:url';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import type { TableName } from '../../../../shared/model/table-name.ts';
import type { RunningPipeline } from '../../run/connector.ts';
import { loadDepartures } from '../base/departures.ts';
import { openPlatform, type Platform } from '../base/platform.ts';
import { publishAll } from '../base/publish.ts';
import { compareTable } from '../base/read-back.ts';
import { count } from '../base/report.ts';
import { runAndReport, type RunOptions } from '../base/run.ts';
import { expectedRoutes, planRequests, requestData, type RequestMessage } from './plan.ts';
import { readAirportDays } from './read-back.ts';
import { describeRequests, introduceRequests, type RequestsReport } from './report.ts';
import { onSubscription } from '../../servers/pubsub/faults.ts';
import { incrementOverHttp, ResultReader } from './results.ts';
import { judgeRequests } from './verdict.ts';

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const TIME_SCALE = 10;
const ACKNOWLEDGEMENT_LOST_EVERY = 9;
const ANSWER_LOST_EVERY = 101;
const INCREMENTS = 3;
const POLL_MILLIS = 20;

type Name = 'first' | 'latest';

/**
 * The run of the request sink: flights ask two tables something and write by the answer, while acknowledgements and
 * answers are lost. True when tables and results agree with each other and with the truth.
 */
export async function runRequestsDemo(options: RunOptions): Promise<boolean> {
  const { flights, source, functionTimeScale, out, signal } = options;
  const departures = await loadDepartures(flights);
  const plan = planRequests(departures);
  await using platform = await openPlatform({
    ...{ configFile: file('connector.yaml'), tablesFile: file('tables.yaml'), timeScale: TIME_SCALE },
    ...{ source, functionTimeScale },
  });
  const { connector, metrics, pubsub, servers, tableOf } = platform;
  const [first, latest] = [pipelineOf(platform, 'first'), pipelineOf(platform, 'latest')];
  out.write(introduceRequests(platform, plan.length));
  const trouble = makeTrouble(platform);
  const published = new Map<string, RequestMessage>();
  const waiting = (): number =>
    [first, latest].reduce((sum, { input }) => sum + servers.pubsub.counters(input.name).backlog, 0);
  const readers = { first: new ResultReader(pubsub, first.results), latest: new ResultReader(pubsub, latest.results) };
  const state = (): string =>
    [
      `published ${count(published.size)} of ${count(plan.length)} messages, ${count(waiting())} wait`,
      `answered ${count(readers.first.answered.size)} and ${count(readers.latest.answered.size)}`,
    ].join(' · ');
  try {
    return await runAndReport(out, state, async () => {
      const startedAt = performance.now();
      const topic = pubsub.topic(first.input.topic);
      await publishAll(plan, published, (message) => ({ data: requestData(message) }), { topic, signal });
      while (waiting() > 0) await sleep(systemClock, POLL_MILLIS, signal);
      const millis = performance.now() - startedAt;
      for (const reader of Object.values(readers)) await reader.until(plan.length, signal);
      const counted: string[] = [];
      for (let number = 1; number <= INCREMENTS; number += 1) {
        counted.push(await incrementOverHttp(latest.rowRequestUrl, file('request.json'), signal));
      }
      for (const { process: running } of connector.functions) await running.stop();

      const { airportDays, markers } = await readAirportDays(tableOf(first.table));
      const routes = await compareTable(tableOf(latest.table), expectedRoutes(departures));
      const observed = {
        ...{ published, airportDays, markers, routes, counted },
        waitingMessages: waiting(),
        results: { first: readers.first.results, latest: readers.latest.results },
      };
      const checks = judgeRequests(plan.length, observed);
      return { checks, report: describeRequests({ checks, observed, metrics, millis, trouble: trouble() }) };
    });
  } finally {
    for (const reader of Object.values(readers)) await reader.stop();
  }
}

interface RequestPipeline extends Pick<RunningPipeline, 'input'> {
  readonly table: TableName;
  /** Where its results are read. */
  readonly results: string;
  /** Where it takes requests over HTTP. */
  readonly rowRequestUrl: string;
}

function pipelineOf({ connector }: Platform, name: Name): RequestPipeline {
  const pipeline = connector.pipelines.find((one) => one.name === name);
  if (!pipeline?.table || !pipeline.results) throw new TypeError(`${name} must be a request sink with results`);
  const { input, table, results } = pipeline;
  const { url } = connector.functionOf('rowRequest', name).process;
  return { input, table, results: results.name, rowRequestUrl: url };
}

/** The result says how often it struck so far. */
function makeTrouble({ connector, servers }: Platform): () => RequestsReport['trouble'] {
  const again = connector.pipelines.map(({ input: { name: subscription } }) =>
    servers.pubsub.faults.add({
      method: 'Acknowledgement',
      where: onSubscription(subscription),
      every: ACKNOWLEDGEMENT_LOST_EVERY,
      times: Infinity,
      effect: { kind: 'lose' },
    }),
  );
  const lost = servers.bigtable.faults.add({
    method: 'CheckAndMutateRow',
    every: ANSWER_LOST_EVERY,
    times: Infinity,
    effect: { kind: 'lose-answer', status: { code: 'UNAVAILABLE', message: 'the answer was lost on purpose' } },
  });
  return () => ({ again: again.reduce((sum, { hits }) => sum + hits, 0), lost: lost.hits });
}
