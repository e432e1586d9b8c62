import type { BenchCase, CaseReport } from '../../support/case.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';

const FULL_ROUNDS = 5;

/** A tablet is read in two seconds by one stream; of so many the start of four processes, within the run, is a small part. */
const ROWS_PER_SECOND = 5000;
const TABLETS = 32;
const ROWS = 320_000;
const QUICK_SHARE = 0.25;

const RATE = 'rows per second';

export interface SlotsArgument {
  readonly slots: number;
  readonly rows: number;
  readonly tablets: number;
  /** Of one stream. */
  readonly rowsPerSecond: number;
}

export interface SlotsResult {
  /** From the plan of the run to its end. */
  readonly rowsPerSecond: number;
}

/** Whether slots read at the same time: processes beside one, where the server bounds what a stream gives. */
export const slotsCase: BenchCase = {
  name: 'slots',
  title: `Slots: a table whose server gives each stream ${ROWS_PER_SECOND.toLocaleString('en-US')} rows/s, read by four processes and by one`,
  async run(settings): Promise<CaseReport> {
    const rows = ROWS * (settings.isQuick ? QUICK_SHARE : 1);
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? 1 : FULL_ROUNDS),
      ([4, 1] as const).map((slots) => ({ name: nameOf(slots), measure: () => measure(slots, rows) })),
      settings,
    );
    const rate = (slots: number): number[] => measured.values(nameOf(slots), RATE);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [ratioOf('four slots / one', rate(4), rate(1), { atLeast: 3 })],
      notes: ['A slot reads one split at a time here (maxConcurrentSplits: 1), so that a process is a stream.'],
    };
  },
};

const nameOf = (slots: number): string => (slots === 1 ? 'one slot' : `${slots} slots`);

async function measure(slots: number, rows: number): Promise<Readonly<Record<string, number>>> {
  const argument: SlotsArgument = { slots, rows, tablets: TABLETS, rowsPerSecond: ROWS_PER_SECOND };
  const result = await runProgram<SlotsResult>(new URL('program.ts', import.meta.url), argument);
  return { [RATE]: result.rowsPerSecond };
}
