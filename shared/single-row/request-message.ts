import { RecordError, RedeliverError } from '../base/errors.ts';
import { countFailures, type FailedRecord } from '../letters/failed-record.ts';
import { conditionalRequest, readModifyWriteRequest } from '../model/conditional.ts';
import type { PushedMessage } from '../model/record.ts';
import { familiesOfRequest, MAX_CORRELATION_ID_BYTES, type RowRequestDocument } from '../model/row-request.ts';
import { type FramedRecord, framedRecords } from '../records/framed-records.ts';
import { prepareAs, type WriteForm } from '../records/prepare.ts';
import { askRecord, identified } from './ask-record.ts';
import { type Delivery, Redelivery, type RequestSink, RowTurns } from './delivery.ts';

/**
 * One message from its push to the right to acknowledge it. Resolves when every record of it is answered and its result
 * published, skipped, or durably handed to the failure policy; rejects with a {@link RedeliverError} when the message
 * must be redelivered.
 *
 * The order for each record is fixed: destination → request → skip → execute → verdict. Records run at once, but those of
 * one row in their order. The first failure that ends the message wins, and what has not been sent by then is not sent:
 * it is made again when the message is redelivered, and would be applied twice. The failure policy runs last, once nothing else of the
 * message needs redelivery.
 */
export async function answerMessage(message: PushedMessage, sink: RequestSink, signal: AbortSignal): Promise<void> {
  const records = framedRecords(message, sink.framing);
  if (records.length === 0) sink.runtime.metrics.count('messagesWithoutRecords');
  const form = await formFor(records, sink);
  const delivery: Delivery = { sink, signal, turns: new RowTurns(), again: new Redelivery() };
  const failed = await Promise.all(records.map((record) => settle(record, form, delivery)));
  const { error } = delivery.again;
  if (error) throw error;
  const rejected = failed.filter((one) => one !== undefined);
  countFailures(rejected, sink);
  if (rejected.length > 0) await sink.policy.handle(rejected, signal);
}

/** Only a dead letter of the sink's own form is read by the written form; nothing else loads it for reading. */
async function formFor(records: readonly FramedRecord[], sink: RequestSink): Promise<WriteForm<RowRequestDocument>> {
  const isNeeded = records.some(({ message: { letter } }) => letter?.payload === 'request');
  if (!isNeeded) return UNREAD;
  const { readRequest } = await sink.forms();
  return requestForm(readRequest);
}

/** What a record of a request sink becomes: a request, with what is said beside it. */
const requestForm = (decode: WriteForm<RowRequestDocument>['decode']): WriteForm<RowRequestDocument> => ({
  payload: 'request',
  decode,
  touched: ({ request }) => ({
    families: familiesOfRequest(request),
    isRowDeleted:
      request.kind === 'conditional' &&
      [...request.request.then, ...request.request.otherwise].some(({ kind }) => kind === 'deleteFromRow'),
  }),
  check({ request: { kind, request }, correlationId = '' }) {
    // Before anything is applied: it comes back in an attribute of the result.
    if (Buffer.byteLength(correlationId) > MAX_CORRELATION_ID_BYTES) {
      throw new RecordError(`correlationId: must be at most ${MAX_CORRELATION_ID_BYTES} bytes`);
    }
    // A module's promise of what it returns holds no longer than until it runs.
    switch (kind) {
      case 'conditional':
        conditionalRequest(request);
        return;
      case 'readModifyWrite':
        readModifyWriteRequest(request);
        return;
      default:
        throw new RecordError(`request: must be conditional or readModifyWrite, got ${String(kind satisfies never)}`);
    }
  },
});

const UNREAD = requestForm(() => {
  throw new TypeError('the written forms are loaded for a message that holds a request');
});

/** One record to its end; what is itself wrong is returned for the failure policy. */
async function settle(
  record: FramedRecord,
  form: WriteForm<RowRequestDocument>,
  delivery: Delivery,
): Promise<FailedRecord | undefined> {
  const { sink, again } = delivery;
  const prepared = prepareAs(form, record, sink);
  switch (prepared.kind) {
    case 'skipped':
      sink.runtime.metrics.count('recordsSkipped');
      return undefined;
    case 'failed':
      sink.runtime.metrics.count('requestsFailed');
      return { ...prepared.failed, ...identified(record, sink) };
    case 'redeliver':
      again.add(new RedeliverError(prepared.reason, prepared.message));
      return undefined;
    case 'write':
      return askRecord({ record, table: prepared.table, document: prepared.write }, delivery);
    default:
      return prepared satisfies never;
  }
}
