import { abortable } from '../base/abort.ts';
import { abortReason, nextTurn, RECORDS_PER_TURN } from '../base/clock.ts';
import { RedeliverError, toError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import { countFailures, type FailedRecord } from '../letters/failed-record.ts';
import { digestOf, type MessageMemory } from '../letters/message-memory.ts';
import type { FailurePolicy } from '../letters/policy.ts';
import { type Status, STATUSES } from '../model/status.ts';
import type { RowEntry } from '../model/mutation.ts';
import type { PushedMessage } from '../model/record.ts';
import { TableAdminError } from '../model/table-admin-error.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import { type FramedRecord, framedRecords } from '../records/framed-records.ts';
import { prepareWrite, type Reading } from '../records/prepare.ts';
import type { Batcher } from './batcher.ts';
import { type Outcome, uncheckedOutcome } from './outcome.ts';
import { refusedUnsent } from './refused-unsent.ts';
import type { FamilyTypes } from './repair/family-types.ts';
import { FamilyTypeError } from './repair/table-errors.ts';
import type { RejectionGuard } from './rejection-guard.ts';

/** Everything a message needs; made once per instance by the wiring. */
export interface BulkSink extends Reading {
  readonly batcher: Pick<Batcher, 'submit'>;
  readonly policy: FailurePolicy;
  readonly rejections: RejectionGuard;
  /** Whether a table is to blame for rejections; absent where nothing declares families. */
  readonly types?: Pick<FamilyTypes, 'confirm'>;
  /** Rejections of messages that are not decided yet, and so are redelivered. */
  readonly memory: MessageMemory<Status>;
  readonly perDestinationMetrics: boolean;
  readonly runtime: Runtime;
}

/** What became of one record: its outcome, or why it is itself wrong. */
type Settled = Outcome | { readonly kind: 'skipped' } | { readonly kind: 'failed'; readonly failed: FailedRecord };

/**
 * One message from its push to the right to acknowledge it. Resolves when every record of it is applied, skipped or
 * durably handed to the failure policy; rejects with a {@link RedeliverError} when the message must be redelivered.
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
    await blameTables(failed, message, sink, signal);
    countFailures(failed, sink);
    if (failed.length > 0) await sink.policy.handle(failed, signal);
    sink.memory.forget(message.messageId);
  } finally {
    if (admitted === 'as-probe') sink.rejections.endProbe();
  }
}

/**
 * Rejects with a {@link RedeliverError} where a table that rejected records has families of other types than declared:
 * every record is refused there, whatever it holds. Where the account may not look, the rejection stands.
 */
async function blameTables(
  failed: readonly FailedRecord[],
  { messageId }: PushedMessage,
  { types, policy, memory }: BulkSink,
  signal: AbortSignal,
): Promise<void> {
  if (!types || !policy.mayDrop) return;
  const tables = new Map<string, TableName>();
  for (const { reason, destination } of failed) {
    if (reason === 'rejected' && destination) tables.set(formatTableName(destination), destination);
  }
  for (const table of tables.values()) {
    try {
      const looking = types.confirm(table);
      if (looking) await abortable(looking, signal);
    } catch (thrown) {
      if (signal.aborted) throw new RedeliverError('deadline', abortReason(signal).message);
      const error = toError(thrown);
      const isForbidden = error instanceof TableAdminError && STATUSES[error.status.code].passes !== 'yes';
      if (isForbidden) continue;
      // Nothing of them is known once the table is fixed.
      if (error instanceof FamilyTypeError) memory.forget(messageId);
      const { reason, message } = uncheckedOutcome(error, table);
      throw new RedeliverError(reason, message);
    }
  }
}

/** Starts the records in order, as far as the instance's bounds admit them, and waits for all of them. */
async function settleRecords(message: PushedMessage, sink: BulkSink, signal: AbortSignal): Promise<Settled[]> {
  const { clock, metrics } = sink.runtime;
  const settled: Settled[] = [];
  /** Rejections that nothing was sent for. */
  const unsent: { readonly table: TableName; readonly status: Status }[] = [];
  const { promise: allSettled, resolve, reject } = Promise.withResolvers<undefined>();
  /** Records without an outcome, and this loop itself. */
  let open = 1;
  const close = (): void => {
    open -= 1;
    if (open === 0) resolve(undefined);
  };
  /** Records since this loop last let others run. */
  let sinceTurn = 0;
  const records = framedRecords(message, sink.framing);
  if (records.length === 0) metrics.count('messagesWithoutRecords');
  for (const [index, record] of records.entries()) {
    if (sinceTurn === RECORDS_PER_TURN) {
      await nextTurn(clock);
      sinceTurn = 0;
    }
    sinceTurn += 1;
    const prepared = prepareWrite(record, sink);
    if (prepared.kind === 'skipped') metrics.count('recordsSkipped');
    if (prepared.kind !== 'write') {
      settled[index] = prepared;
      continue;
    }
    const { table, entry } = prepared;
    const known = refusedUnsent(entry) ?? rejectionKnown(record, table, sink);
    if (known) {
      metrics.count('errorClass.errors', 1, known.code);
      unsent.push({ table, status: known });
      settled[index] = rejected(known, record, table, entry);
      continue;
    }
    if (sink.perDestinationMetrics) metrics.count('destination.recordsSend', 1, formatTableName(table));
    open += 1;
    const admitted = sink.batcher.submit(table, entry, signal, (outcome) => {
      try {
        settled[index] = judged(outcome, record, table, entry, sink);
        close();
      } catch (error) {
        reject(toError(error));
      }
    });
    if (!admitted) continue;
    await admitted;
    sinceTurn = 0;
  }
  close();
  await allSettled;
  // They were decided before anything of the message could be applied, which would start the count over.
  if (!settled.some(({ kind }) => kind === 'applied')) {
    for (const { table, status } of unsent) sink.rejections.rejected(table, status);
  }
  return settled;
}

function judged(
  outcome: Outcome,
  record: FramedRecord,
  destination: TableName,
  entry: RowEntry,
  sink: BulkSink,
): Settled {
  if (outcome.kind === 'applied') {
    sink.rejections.applied();
    // A letter that was published back has waited for a person; that is not the sink's latency.
    if (!record.message.letter) {
      const publishedAt = Number(record.message.publishTimeMicros / 1000n);
      const { clock, metrics } = sink.runtime;
      metrics.record('publishToAppliedLatency', clock.now() - publishedAt);
    }
  }
  if (outcome.kind !== 'rejected') return outcome;
  sink.rejections.rejected(destination, outcome.status);
  rememberRejection(outcome.status, record, destination, sink);
  return rejected(outcome.status, record, destination, entry);
}

/** What an earlier delivery of the message was told of a record that is the same. It is not sent again, and counts as it would if it were. */
function rejectionKnown(
  { message, index, data }: FramedRecord,
  table: TableName,
  { memory }: BulkSink,
): Status | undefined {
  const { messageId } = message;
  return memory.knows(messageId) ? memory.recall(messageId, index, digestOf(data, formatTableName(table))) : undefined;
}

/** Not where records stay in the stream: there somebody fixes the table, and the next delivery is to see that. */
function rememberRejection(status: Status, record: FramedRecord, table: TableName, { memory, policy }: BulkSink): void {
  if (!policy.mayDrop) return;
  const { message, index, data } = record;
  memory.remember(message.messageId, index, digestOf(data, formatTableName(table)), status);
}

function rejected(status: Status, record: FramedRecord, destination: TableName, entry: RowEntry): Settled {
  const { code, message } = status;
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
