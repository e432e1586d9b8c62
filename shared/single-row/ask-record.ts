import { RedeliverError, toError } from '../base/errors.ts';
import type { FailedRecord } from '../letters/failed-record.ts';
import { rowOutcome } from '../model/row-result.ts';
import { familiesOfRequest, type RowRequestDocument } from '../model/row-request.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import type { FramedRecord } from '../records/framed-records.ts';
import { recordIdentity } from '../records/identity.ts';
import type { Delivery, RequestSink } from './delivery.ts';
import type { Answered, Outcome } from './outcome.ts';
import type { WrittenForms } from './ports.ts';

/** A record whose request is known. */
export interface Asked {
  readonly record: FramedRecord;
  readonly table: TableName;
  readonly document: RowRequestDocument;
}

/** Makes the request of a record and says what follows from its outcome; a record that is wrong is returned. */
export async function askRecord(asked: Asked, delivery: Delivery): Promise<FailedRecord | undefined> {
  const { sink, turns, again } = delivery;
  const { table, document } = asked;
  const outcome = await turns.take(table, document.request, () => execute(asked, delivery));
  switch (outcome.kind) {
    case 'answered':
      await answered(outcome, asked, delivery);
      return undefined;
    case 'rejected':
      return rejected(outcome, asked, sink, await sink.forms());
    case 'ambiguous':
      again.add(new RedeliverError('ambiguous', outcome.message));
      return undefined;
    case 'fatal':
      again.add(new RedeliverError(outcome.reason, outcome.message));
      return undefined;
    case 'busy':
      throw new TypeError('a request that waits for room is not told that there is none');
    default:
      return outcome satisfies never;
  }
}

/** Markers are looked to before the request: one that is lost would let a replay through. */
async function execute({ record, table, document }: Asked, { sink, signal, again }: Delivery): Promise<Outcome> {
  const { protection, executor, identities } = sink;
  const { request } = document;
  if (!protection) return executor.execute(table, request, { signal, wait: true, group: again });
  const unfit = await protection.check(table, familiesOfRequest(request), signal);
  if (unfit) {
    again.add(unfit);
    return { kind: 'fatal', reason: unfit.reason, message: unfit.message };
  }
  const marker = { family: protection.markerFamily, identity: recordIdentity(record, identities) };
  return executor.execute(table, request, { signal, wait: true, group: again, marker });
}

async function answered(outcome: Answered, asked: Asked, { sink, signal, again }: Delivery): Promise<void> {
  const { record, table, document } = asked;
  if (!record.message.letter) {
    const publishedAt = Number(record.message.publishTimeMicros / 1000n);
    const { clock, metrics } = sink.runtime;
    metrics.record('publishToAppliedLatency', clock.now() - publishedAt);
  }
  if (outcome.isEmptyBranch && sink.emptyBranchPolicy === 'fail') {
    again.add(
      new RedeliverError(
        'empty-branch',
        `a conditional request on ${formatTableName(table)} selected a branch without mutations, and emptyBranchPolicy is fail: the message is not acknowledged, whatever the failurePolicy`,
      ),
    );
    return;
  }
  const { replayed, mayBeReplayed } = outcome;
  try {
    await sink.results?.publish(
      record,
      {
        correlationId: document.correlationId ?? record.message.messageId,
        table,
        rowKey: document.request.request.rowKey,
        outcome: rowOutcome(document.request, outcome.answer),
        ...(replayed && { replayed }),
        ...(mayBeReplayed && { mayBeReplayed }),
      },
      signal,
    );
  } catch (error) {
    again.add(error instanceof RedeliverError ? error : unexpected(error));
  }
}

const unexpected = (error: unknown): RedeliverError =>
  new RedeliverError('unexpected', `a result could not be written: ${toError(error).message}`, { cause: error });

/** A record whose request Bigtable refused, or would: with the whole request, so that it can be made again. */
function rejected(
  { status, message }: Extract<Outcome, { kind: 'rejected' }>,
  { record, table, document }: Asked,
  sink: RequestSink,
  { writeRequest }: WrittenForms,
): FailedRecord {
  return {
    record,
    ...identified(record, sink),
    destination: table,
    encodeRequest: () => writeRequest(document),
    reason: 'rejected',
    summary: message,
    detail: message.includes(status.message) ? message : `${message}: ${status.message}`,
  };
}

/** What the effect of a record that failed is known by, where it is known by anything. */
export const identified = (
  record: FramedRecord,
  { protection, identities }: RequestSink,
): Pick<FailedRecord, 'identity'> => (protection ? { identity: recordIdentity(record, identities) } : {});
