import type { Topic } from '@google-cloud/pubsub';
import { abortReason, type Clock } from '../../base/clock.ts';
import { lazy } from '../../base/lazy.ts';
import type { DeadLetterTopic } from '../../failure/ports.ts';
import { openPubSub } from './client.ts';

export interface DeadLetterTopicOptions {
  /** `projects/p/topics/t`, or a topic id of the function's own project. */
  readonly topic: string;
  readonly shutdownTimeoutMillis: number;
}

/** The longest a letter waits for others before it is published. */
const BATCH_DELAY_MILLIS = 10;

/** The dead-letter topic over the official client, which is loaded when the first letter is due. */
export function createDeadLetterTopic(options: DeadLetterTopicOptions, clock: Clock): DeadLetterTopic {
  let isOpened = false;
  const open = lazy(async (): Promise<{ topic: Topic; close: () => Promise<void> }> => {
    isOpened = true;
    const client = await openPubSub(options.topic);
    const topic = client.topic(options.topic, { batching: { maxMilliseconds: BATCH_DELAY_MILLIS } });
    return {
      topic,
      close: async () => {
        await topic.flush();
        await client.close();
      },
    };
  });

  return {
    async publish({ data, attributes }, signal) {
      const { topic } = await open();
      // The publish itself cannot be cancelled; a letter that arrives after we stopped waiting is an allowed duplicate.
      await abortable(topic.publishMessage({ data, attributes }), signal);
    },
    async close() {
      if (!isOpened) return;
      const { close } = await open();
      const timeout = new AbortController();
      const cancel = clock.after(options.shutdownTimeoutMillis, () => {
        timeout.abort(new Error(`shutdownTimeout of ${options.shutdownTimeoutMillis} ms was used up`));
      });
      try {
        await abortable(close(), timeout.signal);
      } finally {
        cancel();
      }
    },
  };
}

function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      work.catch(() => undefined);
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      reject(abortReason(signal));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
