import { RecordError, RedeliverError, toError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logging.ts';
import type { Metrics } from '../base/metrics.ts';
import type { ResolvedDestination, ResolvedFraming } from '../config/resolved.ts';
import type { FailedRecord } from '../failure/failed-record.ts';
import type { FailurePolicy } from '../failure/policy.ts';
import { recordsOf } from '../mapping/framing.ts';
import { prepareRecord, type PreparingSerializer, type Serializer } from '../mapping/serializer.ts';
import { MAX_MUTATIONS, type RowEntry } from '../model/mutation.ts';
import type { InputRecord, PushedMessage } from '../model/record.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import type { Batcher } from './batcher.ts';
import type { WriteOutcome } from './outcome.ts';
import type { RejectionGuard } from './rejection-guard.ts';
import { routeRecord } from './route.ts';

/** Everything a message needs; made once per instance by the wiring. */
export interface BulkSink {
  readonly batcher: Pick<Batcher, 'submit'>;
  readonly serializer: Serializer | PreparingSerializer;
  readonly destination: ResolvedDestination;
  readonly framing: ResolvedFraming;
  readonly policy: FailurePolicy;
  readonly rejections: RejectionGuard;
  readonly perDestinationMetrics: boolean;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** What became of one record: its outcome, or why it is itself wrong. */
type Settled = WriteOutcome | { readonly kind: 'skipped' } | { readonly kind: 'failed'; readonly failed: FailedRecord };

/**
 * One message from its push to the right to acknowledge it. Resolves when every record of it is applied, skipped or
 * durably handed to the failure policy; rejects with a {@link RedeliverError} when the message must come again.
 *
 * The order for each record is fixed: destination → serialize → skip → admit → batch → verdict. The failure policy
 * runs last, once nothing else of the message needs redelivery, so that an outage does not file the same dead letter
 * at every delivery.
 */
export async function writeMessage(message: PushedMessage, sink: BulkSink, signal: AbortSignal): Promise<void> {
  const admitted = sink.rejections.admit();
  if (admitted === 'no') throw sink.rejections.refusal();
  try {
    const settled = await settleRecords(message, sink, signal);
    const again = settled.find((one) => one.kind === 'redeliver');
    if (again) throw new RedeliverError(again.reason, again.message);
    const failed = settled.flatMap((one) => (one.kind === 'failed' ? [one.failed] : []));
    if (failed.some(({ reason }) => reason === 'rejected') && admitted !== 'as-probe' && sink.rejections.isTripped) {
      throw sink.rejections.refusal();
    }
    countFailures(failed, sink);
    if (failed.length > 0) await sink.policy.handle(failed, signal);
  } finally {
    if (admitted === 'as-probe') sink.rejections.endProbe();
  }
}

/** Starts the records in order, as far as the instance's bounds admit them, and waits for all of them. */
async function settleRecords(message: PushedMessage, sink: BulkSink, signal: AbortSignal): Promise<Settled[]> {
  const settled: Settled[] = [];
  const { promise: allSettled, resolve, reject } = Promise.withResolvers<undefined>();
  /** Records without an outcome, and this loop itself. */
  let open = 1;
  const close = (): void => {
    open -= 1;
    if (open === 0) resolve(undefined);
  };
  for (const [index, record] of framed(message, sink).entries()) {
    const prepared = prepare(record, sink);
    if ('kind' in prepared) {
      settled[index] = prepared;
      continue;
    }
    const { table, entry } = prepared;
    countSend(table, sink);
    open += 1;
    const admitted = sink.batcher.submit(table, entry, signal, (outcome) => {
      try {
        settled[index] = judged(outcome, record, table, entry, sink);
        close();
      } catch (error) {
        reject(toError(error));
      }
    });
    if (admitted) await admitted;
  }
  close();
  await allSettled;
  return settled;
}

/** The records of the message, or, where its frame is broken, the message as the one bad record. */
function framed(message: PushedMessage, { framing }: BulkSink): readonly (InputRecord & { readonly broken?: Error })[] {
  try {
    return recordsOf(message, framing);
  } catch (error) {
    return [{ message, index: 0, data: message.data, broken: toError(error) }];
  }
}

/** Read once; destination first, so that a refused record is reported against its table; then the entry. */
function prepare(
  record: InputRecord & { readonly broken?: Error },
  sink: BulkSink,
): Settled | { readonly table: TableName; readonly entry: RowEntry } {
  let table: TableName | undefined;
  try {
    if (record.broken) throw record.broken;
    const prepared = prepareRecord(sink.serializer, record);
    if (prepared) table = routeRecord(record, sink.destination, prepared.table);
    const entry = prepared?.serialize() ?? null;
    if (entry === null || table === undefined) {
      sink.metrics.count('recordsSkipped');
      return { kind: 'skipped' };
    }
    const { length } = entry.mutations;
    if (length === 0 || length > MAX_MUTATIONS) {
      throw new RecordError(`entry.mutations: must hold 1 to ${MAX_MUTATIONS} mutations, got ${length}`);
    }
    return { table, entry };
  } catch (error) {
    // A destination that cannot be right is the configuration's fault; everything else is the record's.
    if (error instanceof RedeliverError) return { kind: 'redeliver', reason: error.reason, message: error.message };
    return serializerFailure(record, table ?? sink.destination.table, toError(error), sink);
  }
}

function serializerFailure(
  record: InputRecord,
  destination: TableName | undefined,
  error: Error,
  { logger }: BulkSink,
): Settled {
  // Only our own messages are known to quote nothing of the record; a user's serializer, or a cause, may say anything.
  const said = error instanceof RecordError ? error.message : error.name;
  logger.log('DEBUG', 'a record could not be serialized', {
    messageId: record.message.messageId,
    recordIndex: record.index,
    error: said,
  });
  return {
    kind: 'failed',
    failed: {
      record,
      ...(destination && { destination }),
      reason: 'serializer',
      summary: `could not be serialized (${said})`,
      detail: `could not be serialized: ${error.message}`,
    },
  };
}

function judged(
  outcome: WriteOutcome,
  record: InputRecord,
  destination: TableName,
  entry: RowEntry,
  sink: BulkSink,
): Settled {
  if (outcome.kind === 'applied') {
    sink.rejections.applied();
    sink.metrics.record('publishToAppliedLatency', sink.clock.now() - Number(record.message.publishTimeMicros / 1000n));
  }
  if (outcome.kind !== 'rejected') return outcome;
  sink.rejections.rejected(destination, outcome.status);
  const { code, message } = outcome.status;
  return {
    kind: 'failed',
    failed: {
      record,
      destination,
      entry,
      reason: 'rejected',
      summary: `rejected because the mutation is invalid (${code})`,
      detail: `rejected because the mutation is invalid (${code}): ${message}`,
    },
  };
}

function countSend(table: TableName, { metrics, perDestinationMetrics }: BulkSink): void {
  if (perDestinationMetrics) metrics.count('destination.recordsSend', 1, formatTableName(table));
}

function countFailures(failed: readonly FailedRecord[], { metrics, perDestinationMetrics }: BulkSink): void {
  if (failed.length > 0) metrics.count('numRecordsSendErrors', failed.length);
  if (!perDestinationMetrics) return;
  for (const { destination } of failed) {
    if (destination) metrics.count('destination.sendErrors', 1, formatTableName(destination));
  }
}
