import type { Topic } from '@google-cloud/pubsub';
import type { Platform } from '../base/platform.ts';
import { publishAll } from '../base/publish.ts';
import { departuresBody, remarksBody } from './bodies.ts';
import type { StagedMessage } from './plan.ts';

/** Publishes messages of one topic. Resolves when every copy is confirmed. */
export interface Publishing {
  /** By the id that Pub/Sub gave it, every copy that is confirmed. */
  readonly published: ReadonlyMap<string, StagedMessage>;
  /** @param seconds over which they are spread evenly; absent: as fast as they are confirmed. */
  departures(messages: readonly StagedMessage[], signal: AbortSignal, seconds?: number): Promise<void>;
  remarks(messages: readonly StagedMessage[], signal: AbortSignal, seconds?: number): Promise<void>;
}

export function openPublishing({ connector, pubsub }: Platform): Publishing {
  const published = new Map<string, StagedMessage>();
  const topicOf = (pipeline: string): Topic =>
    pubsub.topic(connector.pipelines.find(({ name }) => name === pipeline)?.input.topic ?? '');
  const publishing =
    (topic: Topic, dataOf: (message: StagedMessage) => Buffer): Publishing['departures'] =>
    async (messages, signal, seconds) => {
      const bodyOf = (message: StagedMessage) => ({
        data: dataOf(message),
        ...(message.id !== undefined && { attributes: { batch: message.id } }),
      });
      const pace = seconds === undefined ? {} : { perSecond: messages.length / seconds };
      await publishAll(messages, published, bodyOf, { topic, signal, ...pace });
    };
  return {
    published,
    departures: publishing(topicOf('airports'), departuresBody),
    remarks: publishing(topicOf('remarks'), remarksBody),
  };
}
