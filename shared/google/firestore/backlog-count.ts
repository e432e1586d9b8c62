import type { Query } from '@google-cloud/firestore';
import { type Amount, NO_AMOUNT, amountOf, scaled } from '../../staged/state.ts';
import { headsOf, restsOf } from './coordinator-store.ts';
import type { OpenDocuments } from './pipeline-documents.ts';
import { storeCall } from './store-call.ts';

/** Documents by which the weight of all is reckoned: sums of an aggregation query would need an index of each field. */
const SAMPLE = 50;

/** What is staged and what is set apart, about: for a stager that hears of no coordinator, and for people. */
export function createBacklogCount(open: OpenDocuments) {
  return async (signal: AbortSignal): Promise<{ readonly backlog: Amount; readonly rests: Amount }> => {
    const { segments, rests } = await open(signal);
    const [staged, apart] = await Promise.all([count(segments, signal), count(rests, signal)]);
    return {
      backlog:
        staged === 0
          ? NO_AMOUNT
          : scaled(amountOf(await headsOf('look at segments', segments.limit(SAMPLE), signal)), staged),
      rests:
        apart === 0 ? NO_AMOUNT : scaled(amountOf(await restsOf('look at rests', rests.limit(SAMPLE), signal)), apart),
    };
  };
}

const count = async (query: Query, signal: AbortSignal): Promise<number> =>
  (await storeCall('count the backlog', signal, () => query.count().get())).data().count;
