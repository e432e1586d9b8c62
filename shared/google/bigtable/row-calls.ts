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
  return async (call) => {
    const { table, signals } = call;
    const deadlineAt = Date.now() + call.timeoutMillis;
    let client: HeldClient | undefined;
    try {
      client = pool.hold(table) ?? (await pool.wait(table, AbortSignal.any([...signals, timeout(deadlineAt)])));
      // Its endings never reject: whatever is thrown was thrown before a request was made.
      const ending = await client.channels.unary(
        PATHS[call.method],
        call.request,
        metadataOf(table, call.appProfileId),
        deadlineAt,
        signals,
      );
      return ending.answer
        ? { kind: 'answered', answer: ending.answer }
        : failed(statusName(ending.status.code), ending.status.details, !ending.isSent);
    } catch (error) {
      return failed('UNAVAILABLE', `no client: ${toError(error).message}`, true);
    } finally {
      if (client) pool.release(client);
    }
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
