import { RecordError, RedeliverError, toError } from '../../../shared/base/errors.ts';
import { refusedUnsent } from '../../../shared/bulk/refused-unsent.ts';
import { routeRecord } from '../../../shared/records/route.ts';
import type { SinkPipeline } from '../../../shared/config/resolved.ts';
import { compileMapping, type CompiledMapping } from '../../../shared/mapping/compile-mapping.ts';
import { entrySerializer } from '../../../shared/mapping/entry-serializer.ts';
import { loadModuleSerializer } from '../../../shared/mapping/module-serializer.ts';
import { entryWrite } from '../../../shared/mapping/modes/write.ts';
import type { MappedWrite } from '../../../shared/mapping/modes/write.ts';
import { prepareRecord, type Serializer } from '../../../shared/mapping/serializer.ts';
import { formatTableName, type TableId, type TableName } from '../../../shared/model/table-name.ts';
import { CommandError } from '../errors.ts';

/** What makes writes of records, whatever kind of serializer a pipeline has, with the full name of the table. */
export type Preparation = CompiledMapping;

/**
 * Loads what the pipeline turns records into entries with, and routes them as its sink does.
 *
 * @param baseDirectory what a module's path is relative to.
 * @throws {ConfigError} where a module does not load.
 * @throws {CommandError} where the pipeline makes requests of its own.
 */
export async function loadPreparation(pipeline: SinkPipeline, baseDirectory: string): Promise<Preparation> {
  const { destination } = pipeline;
  const routed = (record: Parameters<typeof routeRecord>[0], named: TableName | TableId | string | undefined): string =>
    formatTableName(routeRecord(record, destination, named));
  if (pipeline.serializer.kind === 'mapping') {
    const { prepare } = await compileMapping(pipeline.serializer.mapping);
    return {
      prepare(record, context) {
        const prepared = prepare(record, context);
        return (
          prepared && {
            table: routed(record, prepared.table === undefined ? undefined : { table: prepared.table }),
            write: () => sendable(prepared.write()),
          }
        );
      },
    };
  }
  if (pipeline.kind === 'request-sink') {
    throw new CommandError(
      'map: shows what a mapping or a serializer of entries makes of records; the records of this pipeline are requests, or its module makes requests',
    );
  }
  const { serializer } = pipeline;
  const code: Serializer =
    serializer.kind === 'entry'
      ? entrySerializer
      : await loadModuleSerializer(serializer.module, baseDirectory, serializer.options);
  return {
    prepare: (record) =>
      refusing(() => {
        const prepared = prepareRecord(code, record);
        if (!prepared) return null;
        const table = routed(record, prepared.table);
        const entry = prepared.serialize();
        return entry && { table, write: () => sendable(entryWrite(entry.rowKey, entry.mutations)) };
      }),
  };
}

/** An entry that no table takes is refused here as the sink refuses it, unsent. A request is checked where it is made. */
function sendable(write: MappedWrite): MappedWrite {
  const status = write.kind === 'entry' ? refusedUnsent(write.entry) : undefined;
  if (status) throw new RecordError(status.message);
  return write;
}

/** Whatever a user's serializer throws refuses the record, as it does in the sink. */
function refusing<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (error instanceof RecordError || error instanceof RedeliverError) throw error;
    const { name, message } = toError(error);
    throw new RecordError(`the serializer threw ${name}: ${message}`, { cause: error });
  }
}
