import { nextTurn, RECORDS_PER_TURN } from '../base/clock.ts';
import { RecordError, RedeliverError } from '../base/errors.ts';
import { countFailures, type FailedRecord } from '../letters/failed-record.ts';
import { conditionalRequest, readModifyWriteRequest } from '../model/conditional.ts';
import type { PushedMessage } from '../model/record.ts';
import { familiesOfRequest, MAX_CORRELATION_ID_BYTES, type RowRequestDocument } from '../model/row-request.ts';
import { type FramedRecord, framedRecords } from '../records/framed-records.ts';
import { prepareAs, type WriteForm } from '../records/prepare.ts';
import { type Asked, askRecord, identified } from './ask-record.ts';
import { type Delivery, Redelivery, type RequestSink, RowTurns } from './delivery.ts';

/**
 * One message from its push to the right to acknowledge it. Resolves when every record of it is answered and its result
 * published, skipped, or durably handed to the failure policy; rejects with a {@link RedeliverError} when the message
 * must be redelivered.
 *
 * The order for each record is fixed: destination → request → skip → execute → verdict. Nothing is sent before every record
 * is read: of a message that must be redelivered for one of them, every request would be made again. Then requests go
 * at once, for some {@link MAX_OPEN_RECORDS} records at a time, but those of one row in the order of their records. The
 * first failure that ends the message wins, and what has not been sent by then is not sent. The failure policy runs last,
 * once nothing else of the message needs redelivery.
 */
export async function answerMessage(message: PushedMessage, sink: RequestSink, signal: AbortSignal): Promise<void> {
  const records = framedRecords(message, sink.framing);
  if (records.length === 0) sink.runtime.metrics.count('messagesWithoutRecords');
  const { asked, unreadable } = await readRecords(records, sink);
  const delivery: Delivery = { sink, signal, turns: new RowTurns(), again: new Redelivery() };
  const refused = await askAll(asked, delivery);
  const { error } = delivery.again;
  if (error) throw error;
  const failed = [...unreadable, ...refused].toSorted((one, other) => one.record.index - other.record.index);
  countFailures(failed, sink);
  if (failed.length > 0) await sink.policy.handle(failed, signal);
}

/** Reads every record, and lets others run meanwhile. Rejects where one of them says that the message must be redelivered. */
async function readRecords(
  records: readonly FramedRecord[],
  sink: RequestSink,
): Promise<{ readonly asked: readonly Asked[]; readonly unreadable: readonly FailedRecord[] }> {
  const { clock, metrics } = sink.runtime;
  const form = await formFor(records, sink);
  const asked: Asked[] = [];
  const unreadable: FailedRecord[] = [];
  for (const [at, record] of records.entries()) {
    if (at > 0 && at % RECORDS_PER_TURN === 0) await nextTurn(clock);
    const prepared = prepareAs(form, record, sink);
    switch (prepared.kind) {
      case 'skipped':
        metrics.count('recordsSkipped');
        break;
      case 'failed':
        metrics.count('requestsFailed');
        unreadable.push({ ...prepared.failed, ...identified(record, sink) });
        break;
      case 'redeliver':
        throw new RedeliverError(prepared.reason, prepared.message);
      case 'write':
        asked.push({ record, table: prepared.table, document: prepared.write });
        break;
      default:
        return prepared satisfies never;
    }
  }
  return { asked, unreadable };
}

/** Records of a message that are asked and not answered: one that waits for its turn costs more than one that is to come. */
const MAX_OPEN_RECORDS = 10_000;

/** Makes all requests, and lets others run meanwhile; returns the records that were refused. */
async function askAll(asked: readonly Asked[], delivery: Delivery): Promise<readonly FailedRecord[]> {
  const { sink, again } = delivery;
  const refused: FailedRecord[] = [];
  const open = new Set<Promise<void>>();
  const askPart = async (part: readonly Asked[]): Promise<void> => {
    const answers = await Promise.all(part.map((one) => askRecord(one, delivery)));
    for (const answer of answers) if (answer) refused.push(answer);
  };
  for (let start = 0; start < asked.length && !again.isOver; start += RECORDS_PER_TURN) {
    if (start > 0) await nextTurn(sink.runtime.clock);
    if (open.size * RECORDS_PER_TURN >= MAX_OPEN_RECORDS) await Promise.race(open);
    const part = askPart(asked.slice(start, start + RECORDS_PER_TURN));
    open.add(part);
    // What rejects stays, and is awaited below; a rejection before that is not one that nobody handles.
    part.then(
      () => open.delete(part),
      () => undefined,
    );
  }
  await Promise.all(open);
  return refused;
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
