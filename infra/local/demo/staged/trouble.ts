import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import type { RunningFunction } from '../../run/start-functions.ts';
import { onSubscription } from '../../servers/pubsub/faults.ts';
import { onRows, onTable } from '../../servers/bigtable/faults.ts';
import type { Platform } from '../base/platform.ts';
import { isRefusedTime } from './bodies.ts';

/** What goes wrong in a run, on purpose, and how often it did. */
export interface Trouble {
  /** In the order in which it is told. */
  counts(): readonly (readonly [what: string, times: number])[];
  /** Resolves when so many writes of the pipeline's committer are applied that will never be answered. */
  untilAnswersAreLost(signal: AbortSignal): Promise<number>;
  /** Requests for the hot row of the victim's table: writes, and reads of its markers. */
  hotRequests(): number;
}

/** Of so many acknowledged pushes of records one is delivered again. */
const RECORDS_AGAIN_EVERY = 7;
/** The same of work for the committers. */
const WORK_AGAIN_EVERY = 2;
/** Of so many conditional writes one is applied and reported as failed. */
const ANSWER_LOST_EVERY = 101;
/** Writes that are applied and never answered, while their committer is killed. */
const UNANSWERED = 20;
const POLL_MILLIS = 20;
/** The family of the departures. */
const DATA_FAMILY = 'flight';

/**
 * @param victim the table of the committer that is going to be killed.
 * @param hotRow its row that many records wait for meanwhile.
 */
export function makeTrouble(
  { connector, servers: { bigtable, firestore, pubsub } }: Platform,
  victim: string,
  hotRow: string,
): Trouble {
  const duplicated = (purpose: 'records' | 'work', every: number): { readonly hits: number }[] =>
    connector.plan.subscriptions
      .filter((one) => one.purpose === purpose)
      .map(({ name: subscription }) =>
        pubsub.faults.add({
          method: 'Acknowledgement',
          where: onSubscription(subscription),
          every,
          times: Infinity,
          effect: { kind: 'lose' },
        }),
      );
  // What a table refuses for reasons that nobody sees before it is asked.
  bigtable.faults.add({
    method: 'CheckAndMutateRow',
    where: ({ falseMutations }) =>
      falseMutations.some(({ mutation }) => {
        if (mutation?.$case === 'addToCell') {
          const kind = mutation.value.timestamp?.kind;
          return kind?.$case === 'rawTimestampMicros' && isRefusedTime(kind.value);
        }
        // A marker may have any time.
        return (
          mutation?.$case === 'setCell' &&
          mutation.value.familyName === DATA_FAMILY &&
          isRefusedTime(mutation.value.timestampMicros)
        );
      }),
    times: Infinity,
    effect: { kind: 'refuse', status: { code: 'INVALID_ARGUMENT', message: 'the cell is refused on purpose' } },
  });
  const again = duplicated('records', RECORDS_AGAIN_EVERY);
  const workAgain = duplicated('work', WORK_AGAIN_EVERY);
  // No fault at all, but it counts; first of all, so that none is counted by another rule.
  const [isVictim, isHot] = [onTable(victim), onRows(hotRow)];
  const served = { times: Infinity, effect: { kind: 'delay', delayMillis: 0 } } as const;
  const hot = [
    bigtable.faults.add({
      ...{ method: 'CheckAndMutateRow', ...served },
      where: (request) => isVictim(request) && isHot(request),
    }),
    bigtable.faults.add({
      ...{ method: 'ReadRows', ...served },
      where: (request) => isVictim(request) && (request.rows?.rowKeys ?? []).some((rowKey) => isHot({ rowKey })),
    }),
  ];
  const unanswered = bigtable.faults.add({
    method: 'CheckAndMutateRow',
    where: onTable(victim),
    times: UNANSWERED,
    effect: { kind: 'never-answer', isApplied: true },
  });
  const lost = bigtable.faults.add({
    method: 'CheckAndMutateRow',
    every: ANSWER_LOST_EVERY,
    times: Infinity,
    effect: { kind: 'lose-answer', status: { code: 'UNAVAILABLE', message: 'the answer was lost on purpose' } },
  });
  const storeLost = firestore.faults.add({
    method: 'Commit',
    fromCall: 4,
    times: 2,
    effect: { kind: 'lose-answer', status: { code: 'UNAVAILABLE', message: 'the answer was lost on purpose' } },
  });
  const hits = (faults: readonly { readonly hits: number }[]): number => faults.reduce((sum, one) => sum + one.hits, 0);
  return {
    counts: () => [
      ['messages of records delivered again although acknowledged', hits(again)],
      ['messages of work delivered again although acknowledged', hits(workAgain)],
      ['conditional writes applied, their answers lost', lost.hits + unanswered.hits],
      ['commits of Firestore applied, their answers lost', storeLost.hits],
    ],
    async untilAnswersAreLost(signal) {
      while (unanswered.hits < UNANSWERED) await sleep(systemClock, POLL_MILLIS, signal);
      return unanswered.hits;
    },
    hotRequests: () => hits(hot),
  };
}

export interface CoordinatorOutcome {
  readonly pipeline: string;
  readonly outcome: string;
}

/** An invocation beside those that the scheduler makes; what it answers of each pipeline. */
export async function postBeside(
  { process: { url } }: RunningFunction,
  signal: AbortSignal,
): Promise<readonly CoordinatorOutcome[]> {
  const response = await fetch(url, { method: 'POST', signal });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the coordinator answered ${response.status}: ${text}`);
  return (JSON.parse(text) as { readonly pipelines: readonly CoordinatorOutcome[] }).pipelines;
}
