import type { Topic } from '@google-cloud/pubsub';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { Semaphore } from '../../../../shared/base/semaphore.ts';

export interface PublishOptions<Message> {
  readonly topic: Topic;
  readonly signal: AbortSignal;
  /** Messages a second; absent = as fast as publishes are confirmed. */
  readonly perSecond?: number;
  /** Told of each message just before its first copy is handed to the publisher. */
  readonly onSend?: (message: Message) => void;
}

const MAX_UNCONFIRMED = 500;

/**
 * Publishes every copy of every message with the official publisher. Resolves when all are confirmed; at most 500 are
 * not at any time.
 *
 * @param published takes message id → message as each copy is confirmed.
 */
export async function publishAll<Message extends { readonly copies: number }>(
  plan: readonly Message[],
  published: Map<string, Message>,
  bodyOf: (message: Message) => { readonly data: Buffer; readonly attributes?: Record<string, string> },
  { topic, signal, perSecond, onSend }: PublishOptions<Message>,
): Promise<void> {
  const unconfirmed = new Semaphore(MAX_UNCONFIRMED);
  const confirmations: Promise<void>[] = [];
  const startedAt = systemClock.now();
  for (const [index, message] of plan.entries()) {
    const dueAt = perSecond === undefined ? 0 : startedAt + (index * 1000) / perSecond;
    if (dueAt > systemClock.now()) await sleep(systemClock, dueAt - systemClock.now(), signal);
    onSend?.(message);
    const body = bodyOf(message);
    for (let copy = 0; copy < message.copies; copy += 1) {
      const release = await unconfirmed.acquire(signal);
      const confirmation = topic.publishMessage(body).then((messageId) => {
        published.set(messageId, message);
      });
      confirmations.push(confirmation.finally(release));
    }
  }
  await Promise.all(confirmations);
}
