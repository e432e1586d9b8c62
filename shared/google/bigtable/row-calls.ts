import { Metadata } from '@grpc/grpc-js';
import { toError } from '../../base/errors.ts';
import type { RowCall, RowReply, SendRowCall } from '../../model/row-call.ts';
import { statusName } from '../../model/status.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';
import type { ClientPool, HeldClient } from './clients.ts';
import { API_CLIENT } from './mutate-rows.ts';

const PATHS: Readonly<Record<RowCall['method'], string>> = {
  CheckAndMutateRow: '/google.bigtable.v2.Bigtable/CheckAndMutateRow',
  ReadModifyWriteRow: '/google.bigtable.v2.Bigtable/ReadModifyWriteRow',
};

/**
 * `CheckAndMutateRow` and `ReadModifyWriteRow` over a raw gRPC channel: one request, one answer, nothing retried. The
 * deadline is the call's own; a signal with a timer is made only for a call that must wait for a client.
 */
export function createRowCalls(pool: ClientPool): SendRowCall {
  const metadataOf = cachedMetadata();
  const sendBy = (client: HeldClient, call: RowCall, deadlineAt: number): Promise<RowReply> =>
    new Promise((resolve) => {
      const end = (reply: RowReply): void => {
        pool.release(client);
        resolve(reply);
      };
      const { table, appProfileId, request, signals } = call;
      try {
        const path = PATHS[call.method];
        const metadata = metadataOf(table, appProfileId);
        client.channels.unary(path, request, metadata, deadlineAt, signals, ({ answer, status, isSent }) => {
          end(answer ? { kind: 'answered', answer } : failed(statusName(status.code), status.details, !isSent));
        });
      } catch (error) {
        // Endings are told, not thrown: whatever is thrown was thrown before a request was made.
        end(failed('UNAVAILABLE', `no request could be made: ${toError(error).message}`, true));
      }
    });
  const sendOnceFree = async (call: RowCall, deadlineAt: number): Promise<RowReply> => {
    let client: HeldClient;
    try {
      client = await pool.wait(call.table, AbortSignal.any([...call.signals, timeout(deadlineAt)]));
    } catch (error) {
      return failed('UNAVAILABLE', `no client: ${toError(error).message}`, true);
    }
    return sendBy(client, call, deadlineAt);
  };
  return (call) => {
    const deadlineAt = Date.now() + call.timeoutMillis;
    const client = pool.hold(call.table);
    return client ? sendBy(client, call, deadlineAt) : sendOnceFree(call, deadlineAt);
  };
}

const timeout = (deadlineAt: number): AbortSignal => AbortSignal.timeout(Math.max(0, deadlineAt - Date.now()));

const failed = (code: ReturnType<typeof statusName>, message: string, isUnsent: boolean): RowReply => ({
  kind: 'failed',
  status: { code, message },
  isUnsent,
});

/** Tables of one instance are few; a resolver that names more pays for the metadata of each call. */
const MAX_KEPT_METADATA = 1000;

/** One `Metadata` for all calls of a table and profile: the channel copies what it sends. */
function cachedMetadata(): (table: TableName, appProfileId: string) => Metadata {
  const kept = new Map<string, Metadata>();
  // Nearly every call is of the table before it, which is told without building a key.
  let last: { readonly table: TableName; readonly appProfileId: string; readonly metadata: Metadata } | undefined;
  const find = (table: TableName, appProfileId: string): Metadata => {
    const key = `${tablePath(table)}/${appProfileId}`;
    const known = kept.get(key);
    if (known) return known;
    const params = `table_name=${encodeURIComponent(tablePath(table))}&app_profile_id=${encodeURIComponent(appProfileId)}`;
    const metadata = new Metadata();
    metadata.set('x-goog-api-client', API_CLIENT);
    metadata.set('x-goog-request-params', params);
    if (kept.size < MAX_KEPT_METADATA) kept.set(key, metadata);
    return metadata;
  };
  return (table, appProfileId) => {
    if (last?.table !== table || last.appProfileId !== appProfileId) {
      last = { table, appProfileId, metadata: find(table, appProfileId) };
    }
    return last.metadata;
  };
}
