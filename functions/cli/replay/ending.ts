import { MAX_HELD, type ReadOutcome } from './read.ts';

/** Why a replay ended, and what it left out, for the last line of its report. */
export function endingText({ ended, skipped }: ReadOutcome): string {
  const left =
    skipped === 0
      ? ''
      : `; ${skipped} left out (of other pipelines, not as asked for, or filed since the replay began)`;
  switch (ended) {
    case 'empty':
      return left;
    case 'max':
      return `${left}; there may be more (--max)`;
    case 'held':
      return `${left}; ended because ${MAX_HELD} messages are held at most, there may be more`;
    case 'hopeless':
      return `${left}; ended because nothing could be published`;
    case 'interrupted':
      return `${left}; interrupted`;
    default:
      return ended satisfies never;
  }
}

/** What to do with letters that belong to no pipeline of the configuration; undefined where there are none. */
export function strangersText({ strangers }: ReadOutcome): string | undefined {
  if (strangers.size === 0) return undefined;
  const names = [...strangers].map(([name, count]) => `${name}: ${count}`).join(', ');
  return `letters of pipelines that the configuration lacks are left (${names}). Where a pipeline goes on with the work of one, set its deadLetter.acceptLettersOf: [${[...strangers.keys()].join(', ')}]`;
}
