import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Sample } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import { startServer } from '../embedded.ts';
import { type HotRowArgument, type HotRowResult, type Way, WAYS } from './ways.ts';

const ROUNDS = 5;
const QUICK_ROUNDS = 3;
const ENVELOPES = 16_000;
const QUICK_ENVELOPES = 4000;
/** What one row of the service was measured to take at most, a second: 1,600 to 2,200. */
const ROW_CEILING = 2000;

const RATE = 'envelopes per second';

/** A drain of envelopes of which nine in ten are of one row, against sending each of them by itself. */
export const hotRowCase: BenchCase = {
  name: 'hot-row',
  title: 'Drain of a hot row: nine writes in ten on one row, 100 in flight, embedded Bigtable',
  async run(settings): Promise<CaseReport> {
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : ROUNDS),
      WAYS.map((way) => ({ name: way, measure: () => measure(way, settings) })),
      settings,
    );
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [
        ratioOf(
          `drain / a request each, ${RATE}`,
          measured.values('drain', RATE),
          measured.values('a request each', RATE),
          {
            atLeast: 20,
          },
        ),
      ],
      notes: [
        `Server: the embedded one, started empty for every measurement, with the service's ceiling of ${ROW_CEILING} transactions a second on one row.`,
      ],
    };
  },
};

async function measure(way: Way, { isQuick }: BenchSettings): Promise<Sample> {
  await using server = await startServer('bigtable', { rowTransactionsPerSecond: ROW_CEILING });
  const envelopes = isQuick ? QUICK_ENVELOPES : ENVELOPES;
  const { address } = server;
  // As much again beforehand: a drain of seconds is over before it is compiled, and a deployed one is not.
  const argument: HotRowArgument = { way, address, envelopes, warmUpEnvelopes: envelopes };
  const result = await runProgram<HotRowResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [RATE]: result.envelopesPerSecond,
    'requests per envelope': result.requests / envelopes,
    'CPU µs per envelope': result.cpuMicrosPerEnvelope,
  };
}
