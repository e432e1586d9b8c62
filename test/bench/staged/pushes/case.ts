import type { BenchCase, CaseReport } from '../../support/case.ts';
import { startNullServer } from '../../support/null-server.ts';
import { runProgram } from '../../support/program.ts';
import { interleave } from '../../support/rounds.ts';
import { ratioOf, type Target } from '../../support/statistics.ts';

const ROUNDS = 5;
const QUICK_ROUNDS = 2;

/** The concurrency that the deployment gives `commitStaged`, and the envelopes of a full work message. */
export const PUSHES_AT_ONCE = 8;
export const ENVELOPES_PER_PUSH = 1000;

const PUSHES = 160;
const QUICK_PUSHES = 32;

const SUBJECT = 'drain, instance full';
const P95 = 'p95, ms a push';

/** Answers above a second keep the window of a push subscription small. */
const TARGET_MILLIS = 1000;
const TARGET: Target = { atMost: 1 };

export interface PushesArgument {
  readonly address: string;
  readonly pushes: number;
}

export interface PushesResult {
  readonly p50Millis: number;
  readonly p95Millis: number;
}

/** How long a push of work takes while its instance has as many as its concurrency lets in. */
export const pushesCase: BenchCase = {
  name: 'pushes',
  title: `Pushes of work: ${PUSHES_AT_ONCE} at once, ${ENVELOPES_PER_PUSH} envelopes on rows of their own in each, null server`,
  async run(settings): Promise<CaseReport> {
    await using server = await startNullServer();
    const pushes = settings.isQuick ? QUICK_PUSHES : PUSHES;
    const measure = async (): Promise<Readonly<Record<string, number>>> => {
      const argument: PushesArgument = { address: server.address, pushes };
      const { p50Millis, p95Millis } = await runProgram<PushesResult>(new URL('program.ts', import.meta.url), argument);
      return { 'p50, ms a push': p50Millis, [P95]: p95Millis };
    };
    const rounds = settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : ROUNDS);
    const measured = await interleave(rounds, [{ name: SUBJECT, measure }], settings);
    const p95 = measured.values(SUBJECT, P95);
    const bound = p95.map(() => TARGET_MILLIS);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [ratioOf(`${P95}, to the bound of ${TARGET_MILLIS} ms`, p95, bound, TARGET)],
      notes: [
        'From the bytes of the segments on; the read and the deletion of a segment are a call of Firestore each.',
      ],
    };
  },
};
