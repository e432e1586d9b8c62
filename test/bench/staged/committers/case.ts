import { availableParallelism } from 'node:os';
import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { startNullServer } from '../../support/null-server.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Sample } from '../../support/rounds.ts';
import { ratioOf, spreadOf } from '../../support/statistics.ts';

const ROUNDS = 5;
const QUICK_ROUNDS = 2;
const WARM_UP_MILLIS = 5000;
const WINDOW_MILLIS = 8000;
const QUICK_WINDOW_MILLIS = 3000;

/** Two committers and a server for each. */
const CORES_NEEDED = 4;

const RATE = 'writes per second';
const ONE = 'one committer';
const TWO = 'two committers';

export interface CommitterArgument {
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly windowStartsAt: number;
  readonly windowMillis: number;
}

export interface CommitterResult {
  readonly writesPerSecond: number;
}

/** Whether drains scale out with committers. Each has a server of its own, as Bigtable would not be the bound. */
export const committersCase: BenchCase = {
  name: 'committers',
  title: 'Drain of distinct rows by two committer processes, 100 in flight each, a null server each',
  async run(settings): Promise<CaseReport> {
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : ROUNDS),
      [
        { name: ONE, measure: () => measure(1, settings) },
        { name: TWO, measure: () => measure(2, settings) },
      ],
      settings,
    );
    const [one, two] = [measured.values(ONE, RATE), measured.values(TWO, RATE)];
    const hasCores = availableParallelism() >= CORES_NEEDED;
    const seen = (spreadOf(two).median / spreadOf(one).median).toFixed(2);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: hasCores ? [ratioOf(`${TWO} / ${ONE}, ${RATE}`, two, one, { atLeast: 1.8 })] : [],
      notes: hasCores
        ? []
        : [
            `${TWO} / ${ONE}: ${seen}×, without a target here: ${availableParallelism()} cores, and the servers share them.`,
          ],
    };
  },
};

async function measure(committers: number, { isQuick }: BenchSettings): Promise<Sample> {
  await using first = await startNullServer();
  await using second = await startNullServer();
  const windowMillis = isQuick ? QUICK_WINDOW_MILLIS : WINDOW_MILLIS;
  const windowStartsAt = Date.now() + WARM_UP_MILLIS;
  const results = await Promise.all(
    [first, second].slice(0, committers).map(({ address }) => {
      const argument: CommitterArgument = { address, windowStartsAt, windowMillis };
      return runProgram<CommitterResult>(new URL('program.ts', import.meta.url), argument);
    }),
  );
  return { [RATE]: results.reduce((sum, { writesPerSecond }) => sum + writesPerSecond, 0) };
}
