import { serve, type CallContext } from '../../rpc/calls.ts';
import { refusal, type Service } from '../../rpc/grpc.ts';
import type { Database } from '../database.ts';
import type { BigtableCalls } from '../faults.ts';
import { mutateRows, announcesRateLimit } from './mutate-rows.ts';
import { initialPartitions, readChangeStream } from './read-change-stream.ts';
import { readModifyWriteRow } from './read-modify-write.ts';
import { readRows } from './read-rows.ts';
import type { RowPace } from './row-pace.ts';
import { sampleRowKeys } from './sample-row-keys.ts';
import { BULK_BIGTABLE } from './serializers.ts';
import { checkAndMutateRow, mutateRow } from './single-row.ts';

/**
 * The RPCs of `google.bigtable.v2.Bigtable` that are served.
 *
 * @param pace absent: a row takes single-row transactions as fast as they come.
 */
export function dataService(database: Database, context: CallContext<BigtableCalls>, pace?: RowPace): Service {
  return serve(BULK_BIGTABLE, context, {
    readRows: (request, call) => readRows(database, request, call),
    sampleRowKeys: async (request, { send }) => {
      for (const sample of sampleRowKeys(database, request)) await send(sample);
    },
    mutateRow: (request) => {
      mutateRow(database, request);
      return {};
    },
    mutateRows: async (request, { effect, metadata, send }) => {
      const { messages, end } = mutateRows(database, request, effect, announcesRateLimit(metadata));
      for (const message of messages) await send(message);
      if (end) throw refusal(end);
    },
    checkAndMutateRow: async (request) => {
      await pace?.turn(request.tableName, request.rowKey, context.closing);
      return { predicateMatched: checkAndMutateRow(database, request) };
    },
    readModifyWriteRow: async (request) => {
      await pace?.turn(request.tableName, request.rowKey, context.closing);
      return { row: readModifyWriteRow(database, request) };
    },
    generateInitialChangeStreamPartitions: async (request, { send }) => {
      for (const partition of initialPartitions(database, request)) await send(partition);
    },
    readChangeStream: (request, call) => readChangeStream(database, request, call),
    pingAndWarm: ({ name, appProfileId }) => {
      database.profiles.require(name, appProfileId);
      return {};
    },
  });
}
