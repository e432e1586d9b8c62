import { RecordError, RedeliverError, toError } from '../base/errors.ts';
import type { ResolvedDestination, ResolvedFraming } from '../config/resolved.ts';
import type { FailedRecord } from '../letters/failed-record.ts';
import type { LetterPayload } from '../letters/read.ts';
import { decodeEntry } from '../mapping/rows/entry-wire.ts';
import {
  type PreparedRecord,
  prepareRecord,
  type PreparingSerializer,
  type Serializer,
} from '../mapping/serializer.ts';
import { MAX_MUTATIONS, type RowEntry } from '../model/mutation.ts';
import type { TableName } from '../model/table-name.ts';
import type { FramedRecord } from './framed-records.ts';
import { routeRecord } from './route.ts';

/** What a record is read with. `Write` is what the sink makes of it: an entry, or a request. */
export interface Reading<Write = RowEntry> {
  readonly serializer: Serializer<Write> | PreparingSerializer<Write>;
  readonly destination: ResolvedDestination;
  readonly framing: ResolvedFraming;
}

/** What one kind of write is, beyond the record that it is made of. */
export interface WriteForm<Write> {
  /** What a dead letter calls it. */
  readonly payload: Exclude<LetterPayload, 'record' | 'message'>;
  /** Reads the data of such a letter, without the pipeline's serializer. Throws a `RecordError`. */
  readonly decode: (data: Buffer) => Write;
  /** Throws a `RecordError` for what no sink can send, whatever made it. */
  readonly check: (write: Write) => void;
}

/** A record that becomes nothing that could be sent. */
export type Unprepared =
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly failed: FailedRecord }
  | { readonly kind: 'redeliver'; readonly reason: RedeliverError['reason']; readonly message: string };

/** What a record becomes before anything is sent, where it becomes an entry. */
export type Prepared = { readonly kind: 'write'; readonly table: TableName; readonly entry: RowEntry } | Unprepared;

/** The same of any form. */
export type PreparedAs<Write> =
  { readonly kind: 'write'; readonly table: TableName; readonly write: Write } | Unprepared;

/** Reads a record that becomes an entry. See {@link prepareAs}. */
export function prepareWrite(record: FramedRecord, reading: Reading): Prepared {
  const prepared = prepareAs(ENTRY, record, reading);
  return prepared.kind === 'write' ? { kind: 'write', table: prepared.table, entry: prepared.write } : prepared;
}

const ENTRY: WriteForm<RowEntry> = {
  payload: 'entry',
  decode: decodeEntry,
  check({ mutations: { length } }) {
    if (length > 0 && length <= MAX_MUTATIONS) return;
    throw new RecordError(`entry.mutations: must hold 1 to ${MAX_MUTATIONS} mutations, got ${length}`);
  },
};

/**
 * Reads a record once: destination first, so that a refused record is reported against its table; then its write. Pure
 * but for the serializer. A destination that cannot be right is the configuration's fault, and the message is redelivered;
 * everything else that goes wrong here is the record's.
 */
export function prepareAs<Write>(
  form: WriteForm<Write>,
  record: FramedRecord,
  reading: Reading<Write>,
): PreparedAs<Write> {
  let table: TableName | undefined;
  try {
    if (record.broken) throw record.broken;
    const prepared =
      record.letter?.payload === form.payload
        ? fromLetter(form, record, reading)
        : prepareRecord(reading.serializer, record);
    if (prepared) table = routeRecord(record, reading.destination, prepared.table);
    const write = prepared?.serialize() ?? null;
    if (write === null || table === undefined) return { kind: 'skipped' };
    form.check(write);
    return { kind: 'write', table, write };
  } catch (error) {
    if (error instanceof RedeliverError) return { kind: 'redeliver', reason: error.reason, message: error.message };
    return { kind: 'failed', failed: unreadable(record, table ?? reading.destination.table, toError(error)) };
  }
}

/**
 * A letter of the sink's own form is read without the pipeline's serializer and goes to the table it was for, as far as
 * the pipeline could have sent it there: to a table of its own instance, or anywhere if its records name their tables.
 */
function fromLetter<Write>(
  { decode }: WriteForm<Write>,
  { data, letter }: FramedRecord,
  { destination, serializer }: Reading<Write>,
): PreparedRecord<Write> {
  const named = letter?.destination;
  const own = destination.table ?? destination.home;
  const isOwnInstance = named?.project === own?.project && named?.instance === own?.instance;
  const mayName = isOwnInstance || destination.attribute !== undefined || 'resolve' in serializer;
  return { ...(named && mayName && { table: named }), serialize: () => decode(data) };
}

function unreadable(record: FramedRecord, destination: TableName | undefined, error: Error): FailedRecord {
  // Only our own messages are known to quote nothing of the record; a user's serializer, or a cause, may say anything.
  const said = error instanceof RecordError ? error.message : error.name;
  return {
    record,
    ...(destination && { destination }),
    ...(record.broken && { isWholeMessage: true }),
    reason: 'serializer',
    summary: `could not be serialized (${said})`,
    detail: `could not be serialized: ${error.message}`,
  };
}
