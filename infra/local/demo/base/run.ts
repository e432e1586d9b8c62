import { showProgress, type Progress } from './progress.ts';
import type { Check } from './verdict.ts';

/** What every run of the demo is told. */
export interface RunOptions {
  /** How many flights take part, from the start of the data set. */
  readonly flights: number;
  /** Where the functions come from. Default: this repository; else the folder of a bundle. */
  readonly source?: string;
  /** How much faster the clocks of the functions run, where nobody wants to sit out a lease. Default 1. */
  readonly functionTimeScale?: number;
  readonly out: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  readonly signal: AbortSignal;
}

/** What came of a run. */
export interface Outcome {
  readonly checks: readonly Check[];
  /** In words, for the end of the screen. */
  readonly report: string;
}

/**
 * Shows how far a run is while it runs, and its report at the end. True when every check is right.
 *
 * @param state one line, for as long as `run` is not over; the last one stays on the screen.
 */
export async function runAndReport(
  out: RunOptions['out'],
  state: () => string,
  run: (progress: Progress) => Promise<Outcome>,
): Promise<boolean> {
  const progress = showProgress(out, state);
  try {
    const { checks, report } = await run(progress);
    progress.stop();
    out.write(report);
    return checks.every(({ isRight }) => isRight);
  } finally {
    progress.stop();
  }
}
