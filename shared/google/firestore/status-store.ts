import type { StatusStore } from '../../staged/ports.ts';
import type { Backlog } from '../../staged/state.ts';
import { headsOf } from './coordinator-store.ts';
import { readCheckpointState } from './documents.ts';
import { type OpenDocuments, readPipelineDocument } from './pipeline-documents.ts';
import { storeCall } from './store-call.ts';

/** Staged segments of one page of the count. */
const PAGE = 1000;

/** What people ask of a pipeline. */
export function createStatusStore(open: OpenDocuments): StatusStore {
  return {
    readPipeline: (signal) => readPipelineDocument(open, signal),
    async readCheckpoints(limit, signal) {
      const { checkpoints } = await open(signal);
      const query = checkpoints.orderBy('number', 'desc').limit(limit);
      const { docs } = await storeCall('read the last checkpoints', signal, () => query.get());
      return docs.map(readCheckpointState);
    },
    async readProblems(limit, signal) {
      const { segments } = await open(signal);
      const query = segments.where('isGivenBack', '==', true).limit(limit);
      const heads = await headsOf('read segments that were given back', query, signal);
      return heads.map(({ value }) => value);
    },
    async countStaged(signal) {
      const { segments } = await open(signal);
      const total = { segments: 0, envelopes: 0, bytes: 0 };
      // The sums of an aggregation query would need a composite index for each field.
      let page = segments.where('state', '==', 'staged').limit(PAGE);
      for (;;) {
        const heads = await headsOf('count what is staged', page, signal);
        for (const { value } of heads) {
          total.segments += 1;
          total.envelopes += value.envelopes;
          total.bytes += value.bytes;
        }
        const last = heads.at(-1);
        if (!last || heads.length < PAGE) return total satisfies Backlog;
        page = segments.where('state', '==', 'staged').orderBy('__name__').startAfter(last.value.id).limit(PAGE);
      }
    },
  };
}
