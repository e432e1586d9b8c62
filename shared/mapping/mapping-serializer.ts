import { RecordError } from '../base/errors.ts';
import type { ResolvedMapping } from '../config/mapping/resolved.ts';
import type { RowEntry } from '../model/mutation.ts';
import type { InputRecord } from '../model/record.ts';
import { type CompiledMapping, compileMapping } from './compile-mapping.ts';
import type { SerializerContext } from './context.ts';

/** A mapping as the bulk and staged sinks use it. */
export interface MappingSerializer extends CompiledMapping {
  /** The entry of a record; null = it is skipped. Throws a `RecordError`. */
  readonly serialize: (record: InputRecord, context: SerializerContext) => RowEntry | null;
  /**
   * The table of a record; undefined = the pipeline's, or the record is skipped. Only there where the mapping has a
   * destination. Decodes on its own: a caller that needs both uses `prepare`, which decodes once for table and entry.
   */
  readonly resolve?: (record: InputRecord) => { readonly table: string } | undefined;
}

/**
 * Compiles a mapping whose mode writes entries. Throws a `TypeError` for a mode that sends single-row requests; a
 * configuration is refused before it comes to that.
 */
export async function createMappingSerializer(mapping: ResolvedMapping): Promise<MappingSerializer> {
  const { mode } = mapping.write;
  if (mode !== 'upsert' && mode !== 'keep-latest' && mode !== 'aggregate') {
    throw new TypeError(`mapping: the mode ${mode} sends single-row requests, so it needs a request pipeline`);
  }
  const compiled = await compileMapping(mapping);
  return {
    ...compiled,
    serialize: (record, context) => {
      const write = compiled.prepare(record, context)?.write();
      if (write === undefined) return null;
      if (write.kind === 'entry') return write.entry;
      throw new RecordError(`record: must become an entry, got a ${write.kind} request`);
    },
    ...(mapping.destination && {
      resolve: (record: InputRecord) => {
        const { publishTimeMicros } = record.message;
        const table = compiled.prepare(record, { publishTimeMicros })?.table;
        return table === undefined ? undefined : { table };
      },
    }),
  };
}
