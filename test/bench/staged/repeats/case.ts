import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Sample } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import { startServer } from '../embedded.ts';
import { type RepeatsArgument, type RepeatsResult, type Way, WAYS } from './ways.ts';

const ROUNDS = 3;
const QUICK_ROUNDS = 1;
const ENVELOPES = 3000;
const OTHER_MARKERS = 100_000;
const QUICK_OTHER_MARKERS = 20_000;
/** Transactions that one row of the service was measured to take at most, a second: 1,600 to 2,200. */
const ROW_CEILING = 2000;

const RATE = 'envelopes per second';

/** A server that scans takes a fifth of a second for one request of such a row: their rate is told by few of them. */
const SCANNED_ONE_BY_ONE = 200;

/** What is measured: how many of a hundred are applied before, over a server of either sort. */
const SETTINGS = [1, 100].flatMap((percentBefore) => [false, true].map((scansRows) => ({ percentBefore, scansRows })));

type Setting = (typeof SETTINGS)[number];

const nameOf = ({ percentBefore, scansRows }: Setting): string =>
  `${percentBefore} % there, ${scansRows ? 'scanning' : 'seeking'}`;

/** Envelopes of one row of which some are applied before, together against a request each. */
export const repeatsCase: BenchCase = {
  name: 'repeats',
  title:
    'One row: 3,000 envelopes of which some are applied already, embedded Bigtable that seeks, or scans 100,000 markers',
  async run(settings): Promise<CaseReport> {
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : ROUNDS),
      SETTINGS.flatMap((setting) =>
        WAYS.map((way) => ({
          name: `${nameOf(setting)}: ${way}`,
          measure: () => measure(way, setting, settings),
        })),
      ),
      settings,
    );
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: SETTINGS.map((setting) =>
        ratioOf(
          `${nameOf(setting)}: together / a request each, ${RATE}`,
          measured.values(`${nameOf(setting)}: together`, RATE),
          measured.values(`${nameOf(setting)}: a request each`, RATE),
          { atLeast: 20 },
        ),
      ),
      notes: [
        `Server: the embedded one, started empty for every measurement, with the ceiling of ${ROW_CEILING} transactions a second on one row; one that seeks goes to the columns that a filter names, one that scans looks at every cell of the row. Which of the two the service does is not published.`,
      ],
    };
  },
};

async function measure(way: Way, { percentBefore, scansRows }: Setting, { isQuick }: BenchSettings): Promise<Sample> {
  await using server = await startServer('bigtable', { rowTransactionsPerSecond: ROW_CEILING, scansRows });
  const scanned = isQuick ? QUICK_OTHER_MARKERS : OTHER_MARKERS;
  const argument: RepeatsArgument = {
    way,
    address: server.address,
    envelopes: scansRows && way === 'a request each' ? SCANNED_ONE_BY_ONE : ENVELOPES,
    percentBefore,
    otherMarkers: scansRows ? scanned : 0,
  };
  const { envelopesPerSecond, requests } = await runProgram<RepeatsResult>(
    new URL('program.ts', import.meta.url),
    argument,
  );
  return { [RATE]: envelopesPerSecond, requests };
}
