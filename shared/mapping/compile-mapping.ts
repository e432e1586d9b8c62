import { RecordError } from '../base/errors.ts';
import type { ResolvedMapping } from './declared/resolved.ts';
import type { InputRecord } from '../model/record.ts';
import type { SerializerContext } from './context.ts';
import { compileDestination } from './rows/destination.ts';
import { type DecodedRecord, isOutsidePayload, type Settle } from './values/fields.ts';
import { loadDecoder } from './formats/load-decoder.ts';
import { compileWrite } from './modes/compile-write.ts';
import type { MappedWrite } from './modes/write.ts';
import { compileOperation } from './rows/operation.ts';
import { compileRowKey } from './rows/row-key.ts';
import { compileConditions } from './rows/skip.ts';

/** A mapping that only has to be run. Holds no state of a record. */
export interface CompiledMapping {
  /**
   * Decodes a record, once, and says what it becomes; null = it is skipped. Throws a `RecordError` whose message names
   * the field and the rule and never the value.
   */
  readonly prepare: (record: InputRecord, context: SerializerContext) => PreparedRecord | null;
}

export interface PreparedRecord {
  /** The table id that the destination renders to; absent = the pipeline's table. */
  readonly table?: string;
  /** Builds the row key and the write. Throws as `prepare` does. */
  readonly write: () => MappedWrite;
}

/**
 * Compiles a mapping to closures. The order of one record is fixed: tests of attributes, decode, tests of the payload,
 * table, row key, mutations. A control record that does not even decode can thus be skipped by an attribute.
 */
export async function compileMapping(mapping: ResolvedMapping): Promise<CompiledMapping> {
  const { decode, settle } = await loadDecoder(mapping.format);
  const isSkippedUnread = compileConditions(
    mapping.skipWhen.filter(({ field }) => isOutsidePayload(field)),
    settle,
  );
  const isSkipped = compileConditions(
    mapping.skipWhen.filter(({ field }) => !isOutsidePayload(field)),
    settle,
  );
  const isSkippedOperation = compileSkippedOperation(mapping, settle);
  const tableOf = mapping.destination && (await compileDestination(mapping.destination, settle));
  const rowKeyOf = compileRowKey(mapping.rowKey, settle);
  const writeOf = compileWrite(mapping.write, settle);

  return {
    prepare: (input, context) => {
      if (isSkippedUnread({ input, root: null })) return null;
      const record: DecodedRecord = { input, root: decodeRecord(() => decode(input)) };
      if (isSkipped(record) || isSkippedOperation(record)) return null;
      const table = tableOf?.(record);
      return {
        ...(table !== undefined && { table }),
        write: () => writeOf(record, rowKeyOf(record), context),
      };
    },
  };
}

/** Whatever a decoder throws is about the record's bytes: a depth that overflows the stack of a library too. */
function decodeRecord<Root>(decode: () => Root): Root {
  try {
    return decode();
  } catch (error) {
    if (error instanceof RecordError) throw error;
    throw new RecordError('record: must decode, got bytes that the decoder fails on', { cause: error });
  }
}

function compileSkippedOperation({ write }: ResolvedMapping, settle: Settle): (record: DecodedRecord) => boolean {
  const operation = 'operation' in write ? write.operation : undefined;
  const skips = Object.values(operation?.values ?? {}).some(({ kind }) => kind === 'skip');
  if (!operation || !skips) return () => false;
  const operationOf = compileOperation(operation, settle);
  return (record) => operationOf(record).kind === 'skip';
}
