import type { Publisher } from '../../shared/model/publishing.ts';
import { type CommitWork, decodeWork } from '../../shared/staged/work-message.ts';

/** A commit topic that hands over the work that is published to it. */
export const workTopic = (onWork: (work: CommitWork) => void): Publisher => ({
  publish({ data }) {
    const work = decodeWork(data);
    if (!work) return Promise.reject(new Error('a message of the commit topic was no work'));
    onWork(work);
    return Promise.resolve();
  },
  close: () => Promise.resolve(),
});
