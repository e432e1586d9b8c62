import type { ReadChangeStream, ReadChangeStreamCall } from '../../change-stream/reading/ports.ts';
import { wirePartition, wireTime } from '../../change-stream/reading/wire-rules.ts';
import { tablePath } from '../../model/table-name.ts';
import { ReadChangeStreamRequest } from '../../proto/google/bigtable/v2/bigtable.ts';
import { dataMethod, TableMetadata } from './call.ts';
import type { ClientPool } from './clients.ts';
import { PooledMessages } from './pooled-messages.ts';

const METHOD = dataMethod('ReadChangeStream');

/** So often the service tells how far a stream is in which nothing changes. */
const HEARTBEAT_SECONDS = 5n;

/** `ReadChangeStream` of one partition over a raw gRPC channel, at the pace of its reader. Nothing is retried. */
export function createReadChangeStream(pool: ClientPool): ReadChangeStream {
  const metadata = new TableMetadata('asked-delays');
  return (call) =>
    new PooledMessages(pool, { method: METHOD, metadata, encode: () => encodeReadChangeStream(call) }, call);
}

/** The request, which always says where it starts and which partition it is for. */
export function encodeReadChangeStream(call: ReadChangeStreamCall): Buffer {
  const { table, appProfileId, range, position, endTime } = call;
  const request = ReadChangeStreamRequest.encode({
    tableName: tablePath(table),
    appProfileId,
    partition: wirePartition(range),
    startFrom:
      position.tokens.length > 0
        ? {
            $case: 'continuationTokens',
            value: {
              tokens: position.tokens.map(({ range: issuedFor, token }) => ({
                partition: wirePartition(issuedFor),
                token,
              })),
            },
          }
        : { $case: 'startTime', value: wireTime(position.lowWatermark) },
    endTime: endTime === undefined ? undefined : wireTime(endTime),
    heartbeatDuration: { seconds: HEARTBEAT_SECONDS, nanos: 0 },
  }).finish();
  return Buffer.from(request.buffer, request.byteOffset, request.byteLength);
}
