import { RedeliverError } from '../../base/errors.ts';
import { StoreError } from '../../model/store.ts';
import type { CommitWork } from '../work-message.ts';
import type { Committer, Drained } from './committer.ts';
import { drainPage } from './drain-page.ts';
import { Ending } from './ending.ts';
import { pagesOf } from './pages.ts';
import { retryRests } from './retry-rests.ts';

/**
 * One work message: whatever is in its ranges, page by page, from its payload to its end. Resolves when nothing of the
 * work is left to this message. Rejects with a {@link RedeliverError} when something could not be reached now.
 *
 * A segment is deleted only when every envelope in it is applied, was applied before, is durably handed to the failure
 * policy, or is set apart with the same commit. What is only unavailable stays as it is, and is sent again as it is. Nobody
 * else is kept from the same work: the markers make it count once.
 */
export async function drainWork(work: CommitWork, committer: Committer, signal: AbortSignal): Promise<void> {
  const { metrics, clock } = committer.runtime;
  const ending = new Ending(clock, signal);
  const drained: Drained[] = [];
  try {
    await pagesOf(work, committer.store, signal, async (page) => {
      // Nothing is written before its checkpoint is complete, whoever asks for it.
      const ready = await committer.completed.readyOf(page, signal);
      drained.push(await drainPage(ready, committer, ending));
    });
    if (work.rests.length > 0) await retryRests(work.rests, committer, ending);
  } catch (error) {
    metrics.count('requestsFailed');
    throw error instanceof StoreError ? ofStore(error) : error;
  } finally {
    ending.close();
  }
  const unavailable = drained.find((each) => each.unavailable)?.unavailable;
  if (!unavailable) return;
  metrics.count('requestsFailed');
  const segments = drained.reduce((sum, each) => sum + each.segments, 0);
  throw new RedeliverError(unavailable.reason, `${segments} segments are not finished: ${unavailable.message}`);
}

const ofStore = (error: StoreError): RedeliverError =>
  new RedeliverError(error.isTransient ? 'transient' : 'refused', `segments are not finished: ${error.message}`, {
    cause: error,
  });
