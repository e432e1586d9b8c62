import { RecordError, RedeliverError, toError } from '../base/errors.ts';
import type { ResolvedDestination, ResolvedFraming } from '../config/resolved.ts';
import type { FailedRecord } from '../letters/failed-record.ts';
import { checkTable, checkTouched, LetterError, type LetterRights, type Touched } from '../letters/rights.ts';
import { decodeEntry } from '../mapping/rows/entry-wire.ts';
import {
  type PreparedRecord,
  prepareRecord,
  type PreparingSerializer,
  type Serializer,
} from '../mapping/serializer.ts';
import type { LetterPayload, ReturnedLetter } from '../model/record.ts';
import { familiesOf, MAX_MUTATIONS, type RowEntry } from '../model/mutation.ts';
import type { TableName } from '../model/table-name.ts';
import type { FramedRecord } from './framed-records.ts';
import { routeRecord } from './route.ts';

/** What a record is read with. `Write` is what the sink makes of it: an entry, or a request. */
export interface Reading<Write = RowEntry> {
  readonly serializer: Serializer<Write> | PreparingSerializer<Write>;
  readonly destination: ResolvedDestination;
  readonly framing: ResolvedFraming;
  /** What a dead letter that came back may write. */
  readonly letters: LetterRights;
}

/** What one kind of write is, beyond the record that it is made of. */
export interface WriteForm<Write> {
  /** What a dead letter calls it. */
  readonly payload: Exclude<LetterPayload, 'record' | 'message'>;
  /** Reads the data of such a letter, without the pipeline's serializer. Throws a `RecordError`. */
  readonly decode: (data: Buffer) => Write;
  /** Throws a `RecordError` for what no sink can send, whatever made it. */
  readonly check: (write: Write) => void;
  /** What a write of such a letter changes. */
  readonly touched: (write: Write) => Touched;
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
  touched: (entry) => ({
    families: familiesOf(entry),
    isRowDeleted: entry.mutations.some(({ kind }) => kind === 'deleteFromRow'),
  }),
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
      record.message.letter?.payload === form.payload
        ? fromLetter(form, record, record.message.letter, reading)
        : prepareRecord(reading.serializer, record);
    if (prepared) table = routeRecord(record, reading.destination, prepared.table);
    const write = prepared?.serialize() ?? null;
    if (write === null || table === undefined) return { kind: 'skipped' };
    form.check(write);
    return { kind: 'write', table, write };
  } catch (error) {
    if (error instanceof RedeliverError) return { kind: 'redeliver', reason: error.reason, message: error.message };
    const destination = table ?? record.message.letter?.destination ?? reading.destination.table;
    return { kind: 'failed', failed: unreadable(record, destination, toError(error)) };
  }
}

/**
 * A letter of the sink's own form is read without the pipeline's serializer and goes to the table it was for. It may
 * write what a record of the pipeline may, and nothing else.
 */
function fromLetter<Write>(
  { decode, touched }: WriteForm<Write>,
  { data }: FramedRecord,
  { destination }: ReturnedLetter,
  { letters }: Reading<Write>,
): PreparedRecord<Write> {
  if (destination) checkTable(destination, letters);
  return {
    ...(destination && { table: destination }),
    serialize() {
      const write = decode(data);
      checkTouched(touched(write), letters);
      return write;
    },
  };
}

function unreadable(record: FramedRecord, destination: TableName | undefined, error: Error): FailedRecord {
  const isAllowed = !(error instanceof LetterError);
  const failure = isAllowed ? 'could not be serialized' : 'was not written';
  // Only our own messages are known to quote nothing of the record; a user's serializer, or a cause, may say anything.
  const said = error instanceof RecordError ? error.message : error.name;
  return {
    record,
    ...(destination && { destination }),
    ...(record.broken && { isWholeMessage: true }),
    reason: isAllowed ? 'serializer' : 'not-allowed',
    summary: `${failure} (${said})`,
    detail: `${failure}: ${error.message}`,
  };
}
