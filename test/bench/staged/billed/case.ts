import type { BenchCase, CaseReport } from '../../support/case.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';

/** Counting does not scatter. */
const ROUNDS = 1;

/** 60 full segments and 21. */
const ENVELOPES = 49_200;
const QUICK_ENVELOPES = 17_300;
const MILLION = 1_000_000;
const BOUND = 4500;
const IDLE_BOUND = 4;

const SUBJECT = 'stager, coordinator, committer';
const PER_MILLION = 'operations per million envelopes';
const PER_IDLE_TICK = 'operations per idle tick';

export interface BilledArgument {
  readonly envelopes: number;
}

export interface BilledResult {
  /** Documents read, written and deleted from the first envelope to the checkpoint's end. */
  readonly operations: number;
  readonly segments: number;
  readonly operationsPerIdleTick: number;
}

/** What Firestore bills for envelopes from their staging to the end of their checkpoint. */
export const billedCase: BenchCase = {
  name: 'billed',
  title: 'Firestore operations billed for envelopes of 1 KiB in full segments, counted by the embedded server',
  async run(settings): Promise<CaseReport> {
    const envelopes = settings.isQuick ? QUICK_ENVELOPES : ENVELOPES;
    const measured = await interleave(
      settings.runs ?? ROUNDS,
      [{ name: SUBJECT, measure: () => measure(envelopes) }],
      settings,
    );
    const billed = measured.values(SUBJECT, PER_MILLION);
    const idle = measured.values(SUBJECT, PER_IDLE_TICK);
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
          `${PER_IDLE_TICK}, to the bound of ${IDLE_BOUND}`,
          idle,
          idle.map(() => IDLE_BOUND),
          { atMost: 1 },
        ),
      ],
      notes: [`Counted over ${envelopes} envelopes in one checkpoint. A tick with nothing to do is billed besides.`],
    };
  },
};

async function measure(envelopes: number): Promise<Readonly<Record<string, number>>> {
  const argument: BilledArgument = { envelopes };
  const result = await runProgram<BilledResult>(new URL('program.ts', import.meta.url), argument);
  return {
    [PER_MILLION]: (result.operations * MILLION) / envelopes,
    'operations per segment': result.operations / result.segments,
    'envelopes per segment': envelopes / result.segments,
    [PER_IDLE_TICK]: result.operationsPerIdleTick,
  };
}
