import { EXIT, type ExitCode } from '../errors.ts';
import type { CliContext, Puller } from '../ports.ts';
import { textTable } from '../../../shared/base/text-table.ts';
import { endingText, strangersText } from './ending.ts';
import { addLetter, createSummary, groupRows, sampleLines } from './letters.ts';
import type { ReplayPlan } from './plan.ts';
import { readLetters } from './read.ts';

/** Shows letters by reason and gives all of them back. */
export async function showLetters(context: CliContext, puller: Puller, plan: ReplayPlan): Promise<ExitCode> {
  const summary = createSummary();
  const outcome = await readLetters(puller, {
    ...plan,
    signal: context.signal,
    take: (letters) => {
      for (const letter of letters) addLetter(summary, letter);
      return Promise.resolve({ done: new Set() });
    },
  });
  const { terminal } = context;
  if (outcome.taken > 0) terminal.print(textTable(groupRows(summary)));
  if (summary.ungrouped > 0) terminal.print(`… and ${summary.ungrouped} letters of other groups`);
  for (const line of sampleLines(summary)) terminal.print(line);
  const strangers = strangersText(outcome);
  if (strangers !== undefined) terminal.note(strangers);
  terminal.print(`${outcome.taken} letters in ${plan.subscription}, all given back${endingText(outcome)}`);
  return outcome.ended === 'interrupted' ? EXIT.interrupted : EXIT.ok;
}
