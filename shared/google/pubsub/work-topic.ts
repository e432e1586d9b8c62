import { abortable } from '../../base/abortable.ts';
import { lazy } from '../../base/lazy.ts';
import type { WorkTopic } from '../../staged/ports.ts';
import { encodeWork } from '../../staged/work-message.ts';
import { openTopicPublisher } from './topic-publisher.ts';

/** The internal topic of a staged pipeline, over the official client, which is loaded when the first work is due. */
export interface OpenableWorkTopic extends WorkTopic {
  /** Ends the connections, where there are any. */
  close(): Promise<void>;
}

/** @param topic `projects/p/topics/t`, or a topic id of the function's own project. */
export function createWorkTopic(topic: string): OpenableWorkTopic {
  let isOpened = false;
  const opened = lazy(() => {
    isOpened = true;
    return openTopicPublisher(topic, { isOrdered: false });
  });
  return {
    async publish(work, signal) {
      const publisher = await abortable(opened(), signal);
      const confirmed = Promise.all(
        work.map((each) => publisher.publish({ data: encodeWork(each), attributes: { pipeline: each.pipeline } })),
      );
      // What is confirmed after we stopped waiting is work that comes twice, which does no harm.
      await abortable(confirmed, signal);
    },
    async close() {
      if (isOpened) await (await opened()).close();
    },
  };
}
