import type {
  BigtableDefinition,
  MutateRowsResponse,
  SampleRowKeysResponse,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { refusal, streaming, unary, type CallContext } from './calls.ts';
import type { Database } from './database.ts';
import { mutateRows } from './mutate-rows.ts';
import { announcesRateLimit } from './rate-limit.ts';
import { readModifyWriteRow } from './read-modify-write.ts';
import type { RowPace } from './row-pace.ts';
import { readRows } from './read-rows.ts';
import { requireProfile } from './profiles.ts';
import { sampleRowKeys } from './sample-row-keys.ts';
import { checkAndMutateRow, mutateRow } from './single-row.ts';
import { type HandlersOf } from '../rpc/definition.ts';

/** The RPCs of `google.bigtable.v2.Bigtable` that are served. grpc-js answers the others with UNIMPLEMENTED. */
export type DataService = Pick<
  HandlersOf<BigtableDefinition>,
  'readRows' | 'sampleRowKeys' | 'mutateRow' | 'mutateRows' | 'checkAndMutateRow' | 'readModifyWriteRow' | 'pingAndWarm'
>;

/** @param pace absent: a row takes single-row transactions as fast as they come. */
export function dataService(database: Database, context: CallContext, pace?: RowPace): DataService {
  return {
    readRows: streaming(context, 'ReadRows', (request, effect, stream) => readRows(database, request, effect, stream)),
    sampleRowKeys: streaming<'SampleRowKeys', SampleRowKeysResponse>(
      context,
      'SampleRowKeys',
      async (request, _effect, stream) => {
        for (const sample of sampleRowKeys(database, request)) await stream.send(sample);
      },
    ),
    mutateRow: unary(context, 'MutateRow', (request) => {
      mutateRow(database, request);
      return {};
    }),
    mutateRows: streaming<'MutateRows', MutateRowsResponse>(context, 'MutateRows', async (request, effect, stream) => {
      const { messages, end } = mutateRows(database, request, effect, announcesRateLimit(stream.metadata));
      for (const message of messages) await stream.send(message);
      if (end) throw refusal(end);
    }),
    checkAndMutateRow: unary(context, 'CheckAndMutateRow', async (request) => {
      await pace?.turn(request.tableName, request.rowKey, context.closing);
      return { predicateMatched: checkAndMutateRow(database, request) };
    }),
    readModifyWriteRow: unary(context, 'ReadModifyWriteRow', async (request) => {
      await pace?.turn(request.tableName, request.rowKey, context.closing);
      return { row: readModifyWriteRow(database, request) };
    }),
    pingAndWarm: unary(context, 'PingAndWarm', ({ appProfileId }) => {
      requireProfile(database.profiles, appProfileId);
      return {};
    }),
  };
}
