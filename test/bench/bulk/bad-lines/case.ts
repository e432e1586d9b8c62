import { startFunctionProcess } from '../../../../infra/local/run/function-process.ts';
import { bundleSink } from '../../support/bundled-sink.ts';
import type { BenchCase, CaseReport } from '../../support/case.ts';
import { startNullServer } from '../../support/null-server.ts';
import { cpuMillisOf, usageProblem } from '../../support/process-usage.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Sample } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import { SINK_CONFIG } from '../sink-config.ts';
import type { LinesArgument, LinesResult } from './load-program.ts';

const LINES = 100_000;
const QUICK_LINES = 20_000;
const FULL_ROUNDS = 5;
const QUICK_ROUNDS = 2;
const WARM_UP = { linesPerMessage: 2_000, messages: 10 };

const TIME = 'ms a message';
const CPU = 'CPU ms a message';
const BESIDE = 'ms of the slowest message beside it';

/** One message of lines that are all wrong, beside one of lines that are all right. */
export const badLinesCase: BenchCase = {
  name: 'bad-lines',
  title: 'One message of 100,000 bad lines: every one is filed as a dead letter; null servers',
  async run(settings): Promise<CaseReport> {
    const reason = usageProblem();
    if (reason !== undefined) return { kind: 'skipped', reason };
    await using sink = await bundleSink(SINK_CONFIG);
    await using server = await startNullServer();
    const env = {
      NODE_ENV: 'production',
      BIGTABLE_EMULATOR_HOST: server.address,
      PUBSUB_EMULATOR_HOST: server.address,
      GOOGLE_CLOUD_PROJECT: 'bench',
      CONNECTOR_PIPELINE: 'lines',
    };
    const linesPerMessage = settings.isQuick ? QUICK_LINES : LINES;
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
      (['good', 'bad'] as const).map((kind) => ({
        name: kind,
        measure: () => measure(kind, linesPerMessage, sink.source, env),
      })),
      settings,
    );
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [
        ratioOf('bad / good lines, time of a message', measured.values('bad', TIME), measured.values('good', TIME), {
          atMost: 4,
        }),
        ratioOf(
          'slowest message beside the bad lines / a second',
          measured.values('bad', BESIDE),
          measured.values('bad', BESIDE).map(() => 1000),
          { atMost: 1 },
        ),
      ],
      notes: [
        'CPU is that of the function process, with all its threads; servers and sender are processes of their own.',
      ],
    };
  },
};

async function measure(
  kind: LinesArgument['kind'],
  linesPerMessage: number,
  source: string,
  env: Readonly<Record<string, string>>,
): Promise<Sample> {
  const instance = await startFunctionProcess('bulkSink', { source, env });
  try {
    const send = (argument: Pick<LinesArgument, 'linesPerMessage' | 'messages'>): Promise<LinesResult> =>
      runProgram<LinesResult>(new URL('load-program.ts', import.meta.url), {
        port: instance.port,
        kind,
        ...argument,
      } satisfies LinesArgument);
    await send(WARM_UP);
    const cpuBefore = await cpuMillisOf(instance.pid);
    const { millis, longestBesideMillis } = await send({ linesPerMessage, messages: 1 });
    const cpuMillis = (await cpuMillisOf(instance.pid)) - cpuBefore;
    return { [TIME]: millis, [CPU]: cpuMillis, [BESIDE]: longestBesideMillis };
  } finally {
    await instance.kill();
  }
}
