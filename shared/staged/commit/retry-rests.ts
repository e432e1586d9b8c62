import { describeError } from '../../base/logging.ts';
import { CLOCK_SKEW_MILLIS } from '../../model/lease.ts';
import { decodeSegment } from '../envelope/segment.ts';
import type { StoredRest } from '../ports.ts';
import { writeEnvelopes } from '../write/write-envelopes.ts';
import { settle } from './drain-page.ts';
import type { Committer } from './committer.ts';
import type { Ending } from './ending.ts';
import { nextRest } from './rest.ts';

/**
 * One more attempt at what was set apart: the envelopes that are open, and no others. What is still refused waits longer
 * for the next attempt; what is only unavailable is sent again soon. Somebody who is faster with the same rest makes ours
 * a conflict, which changes nothing.
 */
export async function retryRests(ids: readonly string[], committer: Committer, ending: Ending): Promise<void> {
  const { clock } = committer.runtime;
  const found = await committer.store.readRests(ids, ending.signal);
  const due = found.filter(({ head }) => head.tryAt <= clock.now() + CLOCK_SKEW_MILLIS);
  await Promise.all(due.map((rest) => retryRest(rest, committer, ending)));
}

async function retryRest(stored: StoredRest, committer: Committer, ending: Ending): Promise<void> {
  const { clock, random, metrics, logger } = committer.runtime;
  try {
    const envelopes = decodeSegment(stored.payload);
    // Each was refused before, and may be again: by itself it costs its own request.
    const results = await writeEnvelopes(envelopes, committer, ending.signal, { areSuspects: true });
    const left = await settle({ envelopes, results }, committer, ending);
    if (left.kind === 'unavailable') return;
    const isDone = left.kind === 'nothing';
    const rest = isDone ? undefined : nextRest(stored, left.open, left.problem, clock.now(), random);
    const result = await committer.store.finishRest({ stored, ...(rest && { rest }) }, ending.storing);
    if (result === 'committed' && isDone) metrics.count('restsFinished');
  } catch (error) {
    logger.log('ERROR', 'what was set apart could not be tried again; it is sent again', {
      segment: stored.head.id,
      error: describeError(error),
    });
  }
}
