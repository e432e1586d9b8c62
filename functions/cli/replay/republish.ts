import { toError } from '../../../shared/base/errors.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { createPace } from '../pace.ts';
import type { CliContext, PulledMessage, Puller } from '../ports.ts';
import { endingText, strangersText } from './ending.ts';
import { republished } from './letters.ts';
import type { ReplayPlan } from './plan.ts';
import { readLetters, type ReadOutcome, type Taken } from './read.ts';

/** What was pulled must be published before its leases of ten minutes run out. */
const MOST_SECONDS_PER_PULL = 300;

/** Publishes letters to `target`; each is acknowledged only after its publish was confirmed. */
export async function republishLetters(
  context: CliContext,
  puller: Puller,
  plan: ReplayPlan,
  target: string,
): Promise<ExitCode> {
  const { terminal, signal } = context;
  const { perSecond } = plan;
  const publisher = await context.pubsub.publisher(target, { isOrdered: false });
  const pace = createPace(context.clock, perSecond);
  const failures = new Map<string, number>();
  let published = 0;

  const publishOne = async (letter: PulledMessage): Promise<string[]> => {
    const failure = await publisher.publish(republished(letter)).then(() => undefined, toError);
    if (failure) {
      failures.set(failure.message, (failures.get(failure.message) ?? 0) + 1);
      return [];
    }
    published += 1;
    terminal.status(`${published} letters published`);
    return [letter.messageId];
  };

  const take = async (letters: readonly PulledMessage[]): Promise<Taken> => {
    const publishing: Promise<string[]>[] = [];
    for (const letter of letters) {
      const mayGoOn = await pace.turn(1, signal).then(
        () => !signal.aborted,
        () => false,
      );
      if (!mayGoOn) break;
      publishing.push(publishOne(letter));
    }
    const done = new Set((await Promise.all(publishing)).flat());
    return { done, isHopeless: done.size === 0 && publishing.length > 0 };
  };

  let outcome: ReadOutcome;
  try {
    const perPull =
      perSecond === undefined ? {} : { perPull: Math.max(1, Math.floor(perSecond * MOST_SECONDS_PER_PULL)) };
    outcome = await readLetters(puller, { ...plan, ...perPull, signal, take });
  } finally {
    terminal.status('');
    await publisher.close();
  }
  for (const [message, count] of failures) terminal.note(`${count} letters were not published: ${message}`);
  const strangers = strangersText(outcome);
  if (strangers !== undefined) terminal.note(strangers);
  const givenBack = outcome.taken - published;
  terminal.print(
    `${published} letters published to ${target} and acknowledged; ${givenBack} given back${endingText(outcome)}`,
  );
  if (outcome.ended === 'interrupted') return EXIT.interrupted;
  return givenBack > 0 ? EXIT.failed : EXIT.ok;
}
