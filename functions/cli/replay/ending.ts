import { shortened } from '../errors.ts';
import { MAX_HELD, type ReadOutcome } from './read.ts';

/** How long a letter stays invisible at most once the run that pulled it is gone, whatever ended it. */
export const LEASE_SECONDS = 30;

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
      return `${left}; interrupted, there may be more`;
    case 'failed':
      return `${left}; ended by an error, there may be more`;
    default:
      return ended satisfies never;
  }
}

/** Where no message was visible: that is not to say that there is none. Undefined where one was. */
export function nothingSeenText({ ended, taken, skipped }: ReadOutcome, lookedMillis: number): string | undefined {
  if (taken + skipped > 0 || ended !== 'empty') return undefined;
  return (
    `none was visible for ${lookedMillis / 1_000} s, which is not to say that there is none: letters that another run or ` +
    `reader holds, or that were pulled a moment ago, are invisible until their lease ends (${LEASE_SECONDS} s after the ` +
    'end of a run of this command), and letters that were given back for as long as a retry policy of the subscription says'
  );
}

/** What went wrong with leases, one line each. */
export function leaseLines({ unacknowledged, unreturned, leaseFailure }: ReadOutcome): string[] {
  const why = leaseFailure ? `: ${shortened(leaseFailure.message)}` : '';
  return [
    ...(unacknowledged > 0
      ? [
          `${unacknowledged} letters were published and perhaps not acknowledged, and are then delivered once more${why}`,
        ]
      : []),
    ...(unreturned > 0
      ? [`${unreturned} messages could not be given back, and are visible again within ${LEASE_SECONDS} s${why}`]
      : []),
  ];
}

/** What to do with letters that belong to no pipeline of the configuration; undefined where there are none. */
export function strangersText({ strangers }: ReadOutcome): string | undefined {
  if (strangers.size === 0) return undefined;
  const names = [...strangers].map(([name, count]) => `${name}: ${count}`).join(', ');
  return `letters of pipelines that the configuration lacks are left (${names}). Where a pipeline goes on with the work of one, set its deadLetter.acceptLettersOf: [${[...strangers.keys()].join(', ')}]`;
}

/** What to do with letters of scans; undefined where there are none. */
export const ofScansText = ({ ofScans }: ReadOutcome): string | undefined =>
  ofScans === 0
    ? undefined
    : `letters of scans are left (${ofScans}): they tell of rows that are still in their table, and are not replayed. Read the rows with a new run of the scan`;
