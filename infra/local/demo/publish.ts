import type { Topic } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../shared/base/clock.ts';
import { Semaphore } from '../../../shared/base/semaphore.ts';
import { messageData, type PlannedMessage } from './plan.ts';

/** What was published so far: message id → what it carries. A message published twice has two ids. */
export type Published = Map<string, PlannedMessage>;

export interface PublishOptions {
  readonly topic: Topic;
  readonly signal: AbortSignal;
  /** Messages a second; absent = as fast as publishes are confirmed. */
  readonly perSecond?: number;
  /** Told of each message just before its first copy is handed to the publisher. */
  readonly onSend?: (message: PlannedMessage) => void;
}

const MAX_UNCONFIRMED = 500;

/**
 * Publishes every copy of every message with the official publisher and notes the ids it was given. Resolves when all
 * are confirmed; at most 500 are not at any time.
 */
export async function publish(
  plan: readonly PlannedMessage[],
  published: Published,
  { topic, signal, perSecond, onSend }: PublishOptions,
): Promise<void> {
  const unconfirmed = new Semaphore(MAX_UNCONFIRMED);
  const confirmations: Promise<void>[] = [];
  const startedAt = systemClock.now();
  for (const [index, message] of plan.entries()) {
    const dueAt = perSecond === undefined ? 0 : startedAt + (index * 1000) / perSecond;
    if (dueAt > systemClock.now()) await sleep(systemClock, dueAt - systemClock.now(), signal);
    onSend?.(message);
    const data = messageData(message);
    for (let copy = 0; copy < message.copies; copy += 1) {
      const release = await unconfirmed.acquire(signal);
      const confirmation = topic.publishMessage({ data }).then((messageId) => {
        published.set(messageId, message);
      });
      confirmations.push(confirmation.finally(release));
    }
  }
  await Promise.all(confirmations);
}
