import { RedeliverError, toError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import { Semaphore } from '../base/semaphore.ts';
import type { Publisher } from '../model/publishing.ts';
import type { InputRecord } from '../model/record.ts';
import type { RowResult } from '../model/row-result.ts';
import type { WrittenForms } from './ports.ts';

/** Publishes the result of each answered record. */
export interface ResultPublisher {
  /** Resolves once the publish is confirmed; rejects with a {@link RedeliverError} when it is not. */
  publish(record: InputRecord, result: RowResult, signal: AbortSignal): Promise<void>;
}

/** Results of this instance published and not yet confirmed; more wait their turn. */
const MAX_OUTSTANDING_RESULTS = 1000;

/** Results as messages of the topic: the JSON form, with attributes to find the record again. */
export function createResultPublisher(
  topic: Publisher,
  { forms, runtime }: { readonly forms: () => Promise<WrittenForms>; readonly runtime: Runtime },
): ResultPublisher {
  const outstanding = new Semaphore(MAX_OUTSTANDING_RESULTS);
  return {
    async publish({ message: { messageId }, index }, result, signal) {
      const { writeResult } = await forms();
      try {
        const release = await outstanding.acquire(signal);
        try {
          await topic.publish(
            {
              data: writeResult(result),
              attributes: {
                'content-type': 'application/json',
                'correlation-id': result.correlationId,
                'message-id': messageId,
                'record-index': String(index),
              },
            },
            signal,
          );
        } finally {
          release();
        }
        runtime.metrics.count('resultsPublished');
      } catch (error) {
        const cause = toError(error);
        throw new RedeliverError(
          'result-unconfirmed',
          `a request was answered and its result was not confirmed by resultsTopic: ${cause.message}. The message is redelivered, and the request is made again`,
          { cause },
        );
      }
    },
  };
}
