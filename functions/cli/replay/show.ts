import { textTable } from '../../../shared/base/text-table.ts';
import type { ExitCode } from '../errors.ts';
import type { CliContext, Puller } from '../ports.ts';
import { addLetter, createSummary, groupRows, sampleLines } from './letters.ts';
import type { ReplayPlan } from './plan.ts';
import { readLetters } from './read.ts';
import { readingOf, reportEnd } from './report.ts';

/** Shows letters by reason and gives all of them back. */
export async function showLetters(context: CliContext, puller: Puller, plan: ReplayPlan): Promise<ExitCode> {
  const summary = createSummary();
  const outcome = await readLetters(puller, {
    ...readingOf(context, plan),
    take: (letters) => {
      for (const letter of letters) addLetter(summary, letter);
      return Promise.resolve({ done: new Set() });
    },
  });
  const { terminal } = context;
  if (outcome.taken > 0) terminal.print(textTable(groupRows(summary)));
  if (summary.ungrouped > 0) terminal.print(`… and ${summary.ungrouped} letters of other groups`);
  for (const line of sampleLines(summary)) terminal.print(line);
  const givenBack = outcome.unreturned > 0 ? `${outcome.unreturned} not given back` : 'all given back';
  return reportEnd(context, plan, outcome, {
    summary: `${outcome.taken} letters in ${plan.subscription}${outcome.taken > 0 ? `, ${givenBack}` : ''}`,
    isComplete: true,
  });
}
