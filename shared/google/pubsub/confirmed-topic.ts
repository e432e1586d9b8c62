import type { PubSub, Topic } from '@google-cloud/pubsub';
import { abortReason, type Clock } from '../../base/clock.ts';
import { lazy } from '../../base/lazy.ts';
import { openPubSub } from './client.ts';

export interface ConfirmedTopicOptions {
  /** `projects/p/topics/t`, or a topic id of the function's own project. */
  readonly topic: string;
  readonly shutdownTimeoutMillis: number;
}

/** A message on its way. */
export interface ConfirmedMessage {
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A topic on which every message is waited for. */
export interface ConfirmedTopic {
  /** Resolves once the service confirmed the message. */
  publish(message: ConfirmedMessage, signal: AbortSignal): Promise<void>;
  /** Sends what is queued and closes the client, within `shutdownTimeoutMillis`. */
  close(): Promise<void>;
}

/** The longest a message waits for others before it is published. */
const BATCH_DELAY_MILLIS = 10;

/** A topic over the official client, which is loaded when the first message is due. */
export function createConfirmedTopic(options: ConfirmedTopicOptions, clock: Clock): ConfirmedTopic {
  let isOpened = false;
  /** Publishes that nobody has answered yet, those that were given up included: the client's own flush forgets them. */
  const outstanding = new Set<Promise<unknown>>();
  const open = lazy(async (): Promise<{ topic: Topic; client: PubSub }> => {
    isOpened = true;
    const client = await openPubSub(options.topic);
    return { client, topic: client.topic(options.topic, { batching: { maxMilliseconds: BATCH_DELAY_MILLIS } }) };
  });

  return {
    async publish({ data, attributes }, signal) {
      if (signal.aborted) throw abortReason(signal);
      const { topic } = await abortable(open(), signal);
      // The publish itself cannot be cancelled; a message that arrives after we stopped waiting is an allowed duplicate.
      const publishing = topic.publishMessage({ data, attributes });
      outstanding.add(publishing);
      const forget = (): void => {
        outstanding.delete(publishing);
      };
      publishing.then(forget, forget);
      await abortable(publishing, signal);
    },
    async close() {
      if (!isOpened) return;
      const { topic, client } = await open();
      const timeout = new AbortController();
      const cancel = clock.after(options.shutdownTimeoutMillis, () => {
        timeout.abort(new Error(`shutdownTimeout of ${options.shutdownTimeoutMillis} ms was used up`));
      });
      try {
        // Each message's own publish told how it ended; here only that it ended matters.
        await abortable(Promise.allSettled([topic.flush(), ...outstanding]), timeout.signal);
      } finally {
        cancel();
        await client.close();
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
