import type { BenchCase, BenchSettings, CaseReport } from '../support/case.ts';
import { startNullServer } from '../support/null-server.ts';
import { runProgram } from '../support/program.ts';
import { interleave } from '../support/rounds.ts';
import { ratioOf } from '../support/statistics.ts';
import { LAYERS, type LayerArgument, type LayerName, type LayerResult, REQUESTS_IN_FLIGHT } from './layers.ts';

const FULL_ROUNDS = 7;
const QUICK_ROUNDS = 3;

/** Requests of one measurement: seconds of work. */
const REQUESTS = 60_000;
const WARM_UP_SHARE = 0.25;
const QUICK_SHARE = 0.1;

/** Ours over theirs. Bare, the raw call costs 0.46 of `row.filter`. */
const TARGET = { atMost: 0.6 };

const CPU = 'CPU µs per request';

/** CPU of the client process for one request on one row, against a server that stores nothing. */
export const singleRowCase: BenchCase = {
  name: 'requests',
  title: `Single-row requests: CPU per request at ${REQUESTS_IN_FLIGHT} in flight, null server`,
  async run(settings): Promise<CaseReport> {
    await using server = await startNullServer();
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : FULL_ROUNDS),
      LAYERS.map((layer) => ({ name: layer, measure: () => measure(layer, server.address, settings) })),
      settings,
    );
    const compare = (ours: LayerName, theirs: LayerName): ReturnType<typeof ratioOf> =>
      ratioOf(`${ours} / ${theirs}, CPU per request`, measured.values(ours, CPU), measured.values(theirs, CPU), TARGET);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [compare('executor conditional', 'row.filter'), compare('executor increment', 'row.increment')],
      notes: ['CPU is user and system time of the client process with all its threads.'],
    };
  },
};

async function measure(
  layer: LayerName,
  address: string,
  { isQuick }: BenchSettings,
): Promise<Readonly<Record<string, number>>> {
  const requests = REQUESTS * (isQuick ? QUICK_SHARE : 1);
  const argument: LayerArgument = { layer, address, requests, warmUpRequests: requests * WARM_UP_SHARE };
  const result = await runProgram<LayerResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [CPU]: result.cpuMicrosPerRequest,
    'requests per second': result.requestsPerSecond,
    'peak RSS MiB': result.peakRssMiB,
  };
}
