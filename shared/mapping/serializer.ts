import type { RowEntry } from '../model/mutation.ts';
import type { InputRecord } from '../model/record.ts';
import type { TableId, TableName } from '../model/table-name.ts';
import type { SerializerContext } from './context.ts';

export type { SerializerContext } from './context.ts';

/**
 * Turns a record into the entry of its row. Called once per record and delivery, and possibly for several records at
 * once: it must keep no state between calls that a record could see.
 *
 * - Returning `null` skips the record: it is written nowhere and is not a failure.
 * - Throwing is a failure of this record; the pipeline's failure policy decides what becomes of it.
 */
export type Serialize<Write = RowEntry> = (record: InputRecord, context: SerializerContext) => Write | null;

/**
 * A serializer with what may come with it. The default export of a user's module, or just its `serialize`. It makes
 * entries; in a request sink it makes a `RowRequest`.
 */
export interface Serializer<Write = RowEntry> {
  readonly serialize: Serialize<Write>;
  /**
   * Names the record's table: `{ table }` for any id of the pipeline's instance, `{ project, instance, table }` for one
   * elsewhere, or a text: `projects/p/instances/i/tables/t`, a table id without dots, or `project.instance.table`,
   * which must be the pipeline's own instance where it has one. Undefined leaves it to the configuration. Runs before `serialize`, so that a refused record is reported against its table;
   * must be cheap, deterministic, and of a range that you could state.
   */
  readonly resolve?: (record: InputRecord) => TableName | TableId | string | undefined;
  /** Called once, before the first record, with the `options` of the configuration. A rejection fails the start. */
  readonly open?: (options: unknown) => void | Promise<void>;
}

/** A record that was read once: where it goes, and what it becomes. */
export interface PreparedRecord<Write = RowEntry> {
  /** As {@link Serializer.resolve} says it; absent leaves it to the configuration. */
  readonly table?: TableName | TableId | string;
  readonly serialize: () => Write | null;
}

/** A serializer that reads a record once for both questions. Null skips the record before anything else is asked. */
export interface PreparingSerializer<Write = RowEntry> {
  /** Whether a record may name any table; absent: none does, or a mapping says which. */
  readonly mayNameTables?: boolean;
  readonly prepare: (record: InputRecord, context: SerializerContext) => PreparedRecord<Write> | null;
}

/** Reads a record with either kind of serializer: its table first, so that a refused record is reported against it. */
export function prepareRecord<Write>(
  serializer: Serializer<Write> | PreparingSerializer<Write>,
  record: InputRecord,
): PreparedRecord<Write> | null {
  const context = contextOf(record);
  if ('prepare' in serializer) return serializer.prepare(record, context);
  const table = serializer.resolve?.(record);
  return { ...(table !== undefined && { table }), serialize: () => serializer.serialize(record, context) };
}

/** The time every cell of a record takes when nothing else is said. See {@link SerializerContext}. */
export const contextOf = (record: InputRecord): SerializerContext => ({
  publishTimeMicros: record.message.publishTimeMicros - (record.message.publishTimeMicros % 1000n),
});
