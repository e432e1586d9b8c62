import { RecordError, RedeliverError, toError } from '../base/errors.ts';
import type { ResolvedDestination, ResolvedFraming } from '../config/resolved.ts';
import type { FailedRecord } from '../failure/failed-record.ts';
import { decodeEntry } from '../mapping/entry-wire.ts';
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

/** What a record is read with. */
export interface Reading {
  readonly serializer: Serializer | PreparingSerializer;
  readonly destination: ResolvedDestination;
  readonly framing: ResolvedFraming;
}

/** What a record becomes before anything is sent. */
export type Prepared =
  | { readonly kind: 'write'; readonly table: TableName; readonly entry: RowEntry }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly failed: FailedRecord }
  | { readonly kind: 'redeliver'; readonly reason: RedeliverError['reason']; readonly message: string };

/**
 * Reads a record once: destination first, so that a refused record is reported against its table; then its entry. Pure
 * but for the serializer. A destination that cannot be right is the configuration's fault, and the message comes again;
 * everything else that goes wrong here is the record's.
 */
export function prepareWrite(record: FramedRecord, reading: Reading): Prepared {
  let table: TableName | undefined;
  try {
    if (record.broken) throw record.broken;
    const prepared =
      record.letter?.payload === 'entry' ? fromLetter(record, reading) : prepareRecord(reading.serializer, record);
    if (prepared) table = routeRecord(record, reading.destination, prepared.table);
    const entry = prepared?.serialize() ?? null;
    if (entry === null || table === undefined) return { kind: 'skipped' };
    const { length } = entry.mutations;
    if (length === 0 || length > MAX_MUTATIONS) {
      throw new RecordError(`entry.mutations: must hold 1 to ${MAX_MUTATIONS} mutations, got ${length}`);
    }
    return { kind: 'write', table, entry };
  } catch (error) {
    if (error instanceof RedeliverError) return { kind: 'redeliver', reason: error.reason, message: error.message };
    return { kind: 'failed', failed: unreadable(record, table ?? reading.destination.table, toError(error)) };
  }
}

/**
 * A letter of payload `entry` is read without the pipeline's serializer and goes to the table it was for, as far as the
 * pipeline could have sent it there: to a table of its own instance, or anywhere if its records name their tables.
 */
function fromLetter({ data, letter }: FramedRecord, { destination, serializer }: Reading): PreparedRecord {
  const named = letter?.destination;
  const own = destination.table ?? destination.home;
  const isOwnInstance = named?.project === own?.project && named?.instance === own?.instance;
  const mayName = isOwnInstance || destination.attribute !== undefined || 'resolve' in serializer;
  return { ...(named && mayName && { table: named }), serialize: () => decodeEntry(data) };
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
