import type { BigtableServer, MutateRowsResponse } from '../proto/google/bigtable/v2/bigtable.ts';
import { refusal, streaming, unary, type CallContext } from './calls.ts';
import type { Database } from './database.ts';
import { mutateRows } from './mutate-rows.ts';
import { announcesRateLimit } from './rate-limit.ts';
import { readRows } from './read-rows.ts';
import { requireProfile } from './profiles.ts';

/** The RPCs of `google.bigtable.v2.Bigtable` that are served. grpc-js answers the others with UNIMPLEMENTED. */
export type DataService = Pick<BigtableServer, 'mutateRows' | 'readRows' | 'pingAndWarm'>;

export function dataService(database: Database, context: CallContext): DataService {
  return {
    readRows: streaming(context, 'ReadRows', (request, effect, stream) => readRows(database, request, effect, stream)),
    mutateRows: streaming<'MutateRows', MutateRowsResponse>(context, 'MutateRows', async (request, effect, stream) => {
      const { messages, end } = mutateRows(database, request, effect, announcesRateLimit(stream.metadata));
      for (const message of messages) await stream.send(message);
      if (end) throw refusal(end);
    }),
    pingAndWarm: unary(context, 'PingAndWarm', ({ appProfileId }) => {
      requireProfile(database.profiles, appProfileId);
      return {};
    }),
  };
}
