import { RedeliverError, toError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import { Semaphore } from '../base/semaphore.ts';
import { MAX_MESSAGE_BYTES, truncateUtf8 } from '../letters/write.ts';
import type { Publisher } from '../model/publishing.ts';
import type { InputRecord } from '../model/record.ts';
import type { ResultCell, RowResult } from '../model/row-result.ts';
import type { WrittenForms } from './ports.ts';

/** Publishes the result of each answered record. */
export interface ResultPublisher {
  /** Resolves once the publish is confirmed; rejects with a {@link RedeliverError} when it is not. */
  publish(record: InputRecord, result: RowResult, signal: AbortSignal): Promise<void>;
}

/** Results of this instance published and not yet confirmed; more wait their turn. */
const MAX_OUTSTANDING_RESULTS = 1000;

/**
 * Results as messages of the topic: the JSON form, with attributes to find the record again. The request is applied by
 * now, so every result can be published: cells that a message has no room for are left out, which the result says.
 */
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
              data: dataOf(result, writeResult),
              attributes: {
                'content-type': 'application/json',
                'correlation-id': truncateUtf8(result.correlationId),
                'message-id': truncateUtf8(messageId),
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

/** The result as a message takes it: with all of its cells, or with as many as there is room for, in their order. */
function dataOf(result: RowResult, write: WrittenForms['writeResult']): Buffer {
  const data = write(result);
  const { outcome } = result;
  if (data.length <= MAX_MESSAGE_BYTES || outcome.kind === 'conditional') return data;
  const withCells = (cells: readonly ResultCell[]): Buffer => {
    const cellsOmitted = outcome.cells.length - cells.length;
    return write({ ...result, outcome: { ...outcome, cells, ...(cellsOmitted > 0 && { cellsOmitted }) } });
  };
  const frameBytes = withCells([]).length;
  let bytes = frameBytes;
  const kept = outcome.cells.filter((cell) => {
    // A cell beside others takes a comma more than one alone, and no digit of the count more.
    const cellBytes = withCells([cell]).length - frameBytes + OMITTED_BYTES;
    if (bytes + cellBytes > MAX_MESSAGE_BYTES) return false;
    bytes += cellBytes;
    return true;
  });
  return withCells(kept);
}

/** The most that saying how many cells are left out may take. */
const OMITTED_BYTES = ',"cellsOmitted":100000'.length;
