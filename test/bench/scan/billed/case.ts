import type { BenchCase, CaseReport } from '../../support/case.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';

/** Counting hardly scatters. */
const ROUNDS = 1;

const MILLION = 1_000_000;
const QUICK_ROWS = 100_000;
const TABLETS = 64;
const SLOTS = 4;
/** Of one stream; sixteen are read at the same time. A faster server costs less: positions are committed by the time. */
const ROWS_PER_SECOND = 2000;

const BOUND = 1000;
const IDLE_BOUND = 150;
/** Of one slot. */
const ATTEMPTS_PER_HOUR = 60;
const IDLE_ATTEMPTS = 20;

const SUBJECT = 'four slots, coordinator';
const PER_MILLION = 'operations per million rows';
const PER_IDLE_HOUR = 'operations of an idle slot per hour';

export interface BilledArgument {
  readonly rows: number;
  readonly tablets: number;
  readonly slots: number;
  readonly rowsPerSecond: number;
  /** Of a slot, with no run. */
  readonly idleAttempts: number;
}

export interface BilledResult {
  /** Documents read, written and deleted from the start of the run until nothing is left to do for it. */
  readonly operations: number;
  /** From the plan to the end. */
  readonly seconds: number;
  readonly operationsPerIdleAttempt: number;
}

/** What Firestore bills for a run, and for slots that wait for one. */
export const billedScanCase: BenchCase = {
  name: 'billed',
  title: `Firestore operations billed for a run over ${TABLETS} splits, counted by the embedded server`,
  async run(settings): Promise<CaseReport> {
    const rows = settings.isQuick ? QUICK_ROWS : MILLION;
    const measured = await interleave(
      settings.runs ?? ROUNDS,
      [{ name: SUBJECT, measure: () => measure(rows) }],
      settings,
    );
    const billed = measured.values(SUBJECT, PER_MILLION);
    const idle = measured.values(SUBJECT, PER_IDLE_HOUR);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [
        ratioOf(
          `${PER_MILLION}, to the bound of ${BOUND}`,
          billed,
          billed.map(() => BOUND),
          { atMost: 1 },
        ),
        ratioOf(
          `${PER_IDLE_HOUR}, to the bound of ${IDLE_BOUND}`,
          idle,
          idle.map(() => IDLE_BOUND),
          { atMost: 1 },
        ),
      ],
      notes: [
        `Each of 16 streams gives ${ROWS_PER_SECOND.toLocaleString('en-US')} rows/s. Splits cost by their number, commits by the time: a slower run of as many splits costs more.`,
      ],
    };
  },
};

async function measure(rows: number): Promise<Readonly<Record<string, number>>> {
  const argument: BilledArgument = {
    ...{ rows, tablets: TABLETS, slots: SLOTS, idleAttempts: IDLE_ATTEMPTS },
    // A run of fewer rows takes as long as one of a million, and costs as much.
    rowsPerSecond: (ROWS_PER_SECOND * rows) / MILLION,
  };
  const result = await runProgram<BilledResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [PER_MILLION]: result.operations,
    'seconds from plan to end': result.seconds,
    [PER_IDLE_HOUR]: result.operationsPerIdleAttempt * ATTEMPTS_PER_HOUR,
  };
}
