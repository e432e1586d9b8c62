import { fileURLToPath } from 'node:url';
import { startFunctionProcess } from '../../../../infra/local/run/function-process.ts';
import { bundleSink } from '../../support/bundled-sink.ts';
import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import type { LoadResult } from '../../support/http-load.ts';
import { startNullServer } from '../../support/null-server.ts';
import { cpuMillisOf, usageProblem } from '../../support/process-usage.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Sample } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import type { PushShape } from '../pushes.ts';
import { SINK_CONFIG } from '../sink-config.ts';
import type { LoadArgument } from './load-program.ts';

const NOOP = fileURLToPath(new URL('../functions/noop', import.meta.url));
const CONCURRENCY = 64;
const RECORDS_PER_MESSAGE = 100;
const VALUE_BYTES = 100;
const FULL_ROUNDS = 5;
const QUICK_ROUNDS = 3;
/** Requests of one measurement after as large a share of warm-up. */
const REQUESTS = { one: 40_000, many: 4_000 };
const WARM_UP_SHARE = 0.25;
const QUICK_SHARE = 0.2;

const CPU = 'CPU µs per request';
const RECORDS = 'records per second';

interface FunctionUnderLoad {
  readonly target: string;
  readonly source: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shape: PushShape;
  readonly requests: number;
}

/** What a push costs the function's process, beside a function of the same framework that does nothing. */
export const httpCase: BenchCase = {
  name: 'http',
  title: `Through HTTP: functions-framework process, ${CONCURRENCY} pushes at a time, values of ${VALUE_BYTES} bytes, null server`,
  async run(settings): Promise<CaseReport> {
    const reason = usageProblem();
    if (reason !== undefined) return { kind: 'skipped', reason };
    await using sink = await bundleSink(SINK_CONFIG);
    await using server = await startNullServer();
    const sinkEnv = { NODE_ENV: 'production', BIGTABLE_EMULATOR_HOST: server.address };
    const one = { shape: { recordsPerMessage: 1, valueBytes: VALUE_BYTES }, requests: REQUESTS.one };
    const many = {
      shape: { recordsPerMessage: RECORDS_PER_MESSAGE, valueBytes: VALUE_BYTES },
      requests: REQUESTS.many,
    };
    const subjects: Record<string, FunctionUnderLoad> = {
      'no-op': { target: 'noop', source: NOOP, env: { NODE_ENV: 'production' }, ...one },
      'bulkSink, 1 record': {
        target: 'bulkSink',
        source: sink.source,
        env: { ...sinkEnv, CONNECTOR_PIPELINE: 'single' },
        ...one,
      },
      [`bulkSink, ${RECORDS_PER_MESSAGE} records`]: {
        target: 'bulkSink',
        source: sink.source,
        env: { ...sinkEnv, CONNECTOR_PIPELINE: 'many' },
        ...many,
      },
    };
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
      Object.entries(subjects).map(([name, subject]) => ({ name, measure: () => measure(subject, settings) })),
      settings,
    );
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [
        ratioOf(
          'bulkSink with 1 record / no-op, CPU per request',
          measured.values('bulkSink, 1 record', CPU),
          measured.values('no-op', CPU),
          { atMost: 1.1 },
        ),
        // Against what a push costs in any case: one record a message became cheaper than that, and says no more.
        ratioOf(
          `bulkSink with ${RECORDS_PER_MESSAGE} records / no-op, CPU per request`,
          measured.values(`bulkSink, ${RECORDS_PER_MESSAGE} records`, CPU),
          measured.values('no-op', CPU),
          { atMost: 8 },
        ),
      ],
      notes: [
        'CPU is that of the function process, with all its threads; sender and server are processes of their own.',
      ],
    };
  },
};

async function measure(
  { target, source, env, shape, requests }: FunctionUnderLoad,
  { isQuick }: BenchSettings,
): Promise<Sample> {
  const instance = await startFunctionProcess(target, { source, env });
  try {
    const measuredRequests = requests * (isQuick ? QUICK_SHARE : 1);
    const push = (count: number): Promise<LoadResult> =>
      runProgram<LoadResult>(new URL('load-program.ts', import.meta.url), {
        port: instance.port,
        concurrency: CONCURRENCY,
        requests: count,
        shape,
      } satisfies LoadArgument);
    await push(measuredRequests * WARM_UP_SHARE);
    const cpuBefore = await cpuMillisOf(instance.pid);
    const { millis } = await push(measuredRequests);
    const cpuMillis = (await cpuMillisOf(instance.pid)) - cpuBefore;
    return {
      [CPU]: (cpuMillis * 1000) / measuredRequests,
      [RECORDS]: (measuredRequests * shape.recordsPerMessage * 1000) / millis,
    };
  } finally {
    await instance.kill();
  }
}
