import { abortable } from '../../../shared/base/abort.ts';
import { toError } from '../../../shared/base/errors.ts';
import { shortened, type ExitCode } from '../errors.ts';
import { closed } from '../interruption.ts';
import { createPace } from '../pace.ts';
import type { CliContext, PulledMessage, Puller } from '../ports.ts';
import { republished } from './letters.ts';
import type { ReplayPlan } from './plan.ts';
import { readLetters, type ReadOutcome, type Taken } from './read.ts';
import { readingOf, reportEnd } from './report.ts';

/** Letters of one pull are acknowledged together: a run that is killed has published no more than these for nothing. */
const MOST_SECONDS_PER_PULL = 300;

/** Publishes letters to `target`; each is acknowledged only after its publish was confirmed. */
export async function republishLetters(
  context: CliContext,
  puller: Puller,
  plan: ReplayPlan,
  target: string,
): Promise<ExitCode> {
  const { terminal, signal, ending } = context;
  const { perSecond } = plan;
  const publisher = await abortable(context.pubsub.publisher(target, { isOrdered: false }), signal);
  const pace = createPace(context.clock, perSecond);
  const failures = new Map<string, number>();
  let published = 0;
  let unconfirmed = 0;

  const publishOne = async (letter: PulledMessage): Promise<string[]> => {
    const failure = await publisher.publish(republished(letter), ending.confirming).then(() => undefined, toError);
    if (!failure) {
      published += 1;
      terminal.status(`${published} letters published`);
      return [letter.messageId];
    }
    const reason = shortened(failure.message);
    if (ending.confirming.aborted) unconfirmed += 1;
    else failures.set(reason, (failures.get(reason) ?? 0) + 1);
    return [];
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
    outcome = await readLetters(puller, { ...readingOf(context, plan), ...perPull, take });
  } finally {
    terminal.status('');
    await closed(publisher.close(), ending);
  }
  for (const [message, count] of failures) terminal.note(`${count} letters were not published: ${message}`);
  if (unconfirmed > 0) terminal.note(`${unconfirmed} letters were on their way unconfirmed, and may come twice`);
  const remaining = outcome.taken - published;
  const givenBack = outcome.unreturned > 0 ? `${outcome.unreturned} not given back` : `${remaining} given back`;
  const acknowledged = outcome.unacknowledged > 0 ? `, ${published - outcome.unacknowledged} of them` : ' and';
  return reportEnd(context, plan, outcome, {
    summary: `${published} letters published to ${target}${acknowledged} acknowledged; ${givenBack}`,
    isComplete: remaining === 0,
  });
}
