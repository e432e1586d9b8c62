import type { ColumnFamily } from '../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { Mutation } from '../../shared/proto/google/bigtable/v2/data.ts';
import { createTable, mutateRow } from './bigtable-raw-client.ts';
import { type SinkHarness, type SinkOptions, startSink, TABLE } from './sink-harness.ts';

export interface MappedSinkOptions {
  readonly mapping: unknown;
  /** Families of the table `t`. Default: `f` and `g`. */
  readonly families?: Readonly<Record<string, Partial<ColumnFamily>>>;
  /** What the row `k` holds before. */
  readonly before?: readonly Mutation[];
  readonly pipeline?: SinkOptions['pipeline'];
}

/** The real sink with a mapping in place of a serializer, and dead letters that carry the record. */
export async function startMappedSink(options: MappedSinkOptions): Promise<SinkHarness> {
  const { mapping, families = { f: {}, g: {} }, before = [], pipeline } = options;
  const sink = await startSink({
    families: null,
    deadLetters: 'topic',
    pipeline: { serializer: undefined, mapping, ...pipeline },
  });
  try {
    await createTable(sink.client, 't', families);
    if (before.length > 0) {
      await mutateRow(sink.client, { tableName: TABLE, rowKey: Buffer.from('k'), mutations: [...before] });
    }
    return sink;
  } catch (error) {
    await sink[Symbol.asyncDispose]();
    throw error;
  }
}
