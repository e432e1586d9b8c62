import type { BenchCase, BenchSettings, CaseReport } from '../../support/case.ts';
import { runProgram } from '../../support/program.ts';
import { interleave, type Sample } from '../../support/rounds.ts';
import { ratioOf } from '../../support/statistics.ts';
import {
  CHECKPOINT_INTERVAL_MILLIS,
  type SinkName,
  SINKS,
  type VisibilityArgument,
  type VisibilityResult,
} from './sinks.ts';

const ROUNDS = 3;
const QUICK_ROUNDS = 1;

const MESSAGES_PER_SECOND = 20;
const SECONDS = 40;
const QUICK_SECONDS = 10;
const WARM_UP_SECONDS = 5;

/** The longest that a staged row may take. */
const BOUND_MILLIS = CHECKPOINT_INTERVAL_MILLIS + 1000;

const P95 = 'p95 ms';

/** From handing a record to the publisher to its row in the table, at a light load. */
export const visibilityCase: BenchCase = {
  name: 'visibility',
  title: `Visibility at ${MESSAGES_PER_SECOND} records a second, checkpoints every ${CHECKPOINT_INTERVAL_MILLIS / 1000} s, functions over the embedded cloud`,
  async run(settings): Promise<CaseReport> {
    const measured = await interleave(
      settings.runs ?? (settings.isQuick ? QUICK_ROUNDS : ROUNDS),
      SINKS.map((sink) => ({ name: sink, measure: () => measure(sink, settings) })),
      settings,
    );
    const p95 = (sink: SinkName): number[] => measured.values(sink, P95);
    const bounds = p95('staged').map(() => BOUND_MILLIS);
    return {
      kind: 'measured',
      series: measured.series(),
      ratios: [
        ratioOf(`staged, ${P95}, to the bound of ${BOUND_MILLIS}`, p95('staged'), bounds, { atMost: 1 }),
        ratioOf(`on receipt / bulk, ${P95}`, p95('on receipt'), p95('bulk'), { atMost: 3 }),
      ],
      notes: ['The end is the time that the server gave the cell, in whole milliseconds.'],
    };
  },
};

async function measure(sink: SinkName, { isQuick }: BenchSettings): Promise<Sample> {
  const argument: VisibilityArgument = {
    sink,
    messagesPerSecond: MESSAGES_PER_SECOND,
    warmUpMessages: WARM_UP_SECONDS * MESSAGES_PER_SECOND,
    messages: (isQuick ? QUICK_SECONDS : SECONDS) * MESSAGES_PER_SECOND,
  };
  const result = await runProgram<VisibilityResult>(new URL('program.ts', import.meta.url), argument);
  return { 'p50 ms': result.p50Millis, [P95]: result.p95Millis };
}
