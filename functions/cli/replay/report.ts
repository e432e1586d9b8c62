import { EXIT, type ExitCode } from '../errors.ts';
import { interruptedExit } from '../interruption.ts';
import type { CliContext } from '../ports.ts';
import { endingText, leaseLines, nothingSeenText, ofScansText, strangersText } from './ending.ts';
import type { ReplayPlan } from './plan.ts';
import type { ReadOptions, ReadOutcome } from './read.ts';

/** What showing letters and publishing them have in common: how they read, and how they tell of their end. */

export const readingOf = (context: CliContext, plan: ReplayPlan): Omit<ReadOptions, 'take'> => ({
  ...plan,
  clock: context.clock,
  signal: context.signal,
  ending: context.ending,
  onNothingYet: () => {
    const seconds = (plan.firstIdleMillis - plan.idleMillis) / 1_000;
    context.terminal.note(`nothing is visible in ${plan.subscription} yet; looking ${seconds} s more`);
  },
});

/**
 * The last lines of a report, and the exit code.
 *
 * @throws what ended the reading, once the report of what was done until then is printed.
 */
export function reportEnd(
  { terminal, signal }: CliContext,
  plan: ReplayPlan,
  outcome: ReadOutcome,
  { summary, isComplete }: { readonly summary: string; readonly isComplete: boolean },
): ExitCode {
  const left = [ofScansText(outcome), strangersText(outcome)].filter((line) => line !== undefined);
  for (const line of [...left, ...leaseLines(outcome)]) terminal.note(line);
  const { ended, failure, unreturned, unacknowledged, taken, skipped } = outcome;
  const wasAnySeen = taken + skipped > 0;
  if (wasAnySeen || !failure) {
    const nothing = nothingSeenText(outcome, Math.max(plan.idleMillis, plan.firstIdleMillis));
    terminal.print(`${summary}${endingText(outcome)}${nothing === undefined ? '' : `; ${nothing}`}`);
  }
  if (ended === 'interrupted') return interruptedExit(signal);
  if (failure) throw failure;
  return isComplete && unreturned === 0 && unacknowledged === 0 ? EXIT.ok : EXIT.failed;
}
