import type { StatusStore } from '../../staged/ports.ts';
import { LANES, MAX_NUMBER, numbersOfLane } from '../../staged/segment-id.ts';
import { createBacklogCount } from './backlog-count.ts';
import { headsOf, restsOf } from './coordinator-store.ts';
import { readCheckpointState } from './documents.ts';
import { type OpenDocuments, readPipelineDocument } from './pipeline-documents.ts';
import { storeCall } from './store-call.ts';

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
    async readRests(limit, signal) {
      const { rests } = await open(signal);
      return restsOf('read rests', rests.orderBy('tryAt').limit(limit), signal);
    },
    async readLowest(limit, signal) {
      const documents = await open(signal);
      const lanes = Array.from({ length: LANES }, (_, lane) =>
        headsOf('look at segments', documents.inRange(numbersOfLane(lane, 0, MAX_NUMBER)).limit(limit), signal),
      );
      return (await Promise.all(lanes)).flat();
    },
    countBacklog: createBacklogCount(open),
  };
}
