import { Metadata } from '@grpc/grpc-js';
import { toError } from '../../base/errors.ts';
import type { RowCall, RowReply, SendRowCall } from '../../model/row-call.ts';
import { statusName } from '../../model/status.ts';
import { tablePath } from '../../model/table-name.ts';
import type { UnaryEnding } from './channel.ts';
import type { ClientPool } from './clients.ts';
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
    const deadlineAt = Date.now() + call.timeoutMillis;
    const patience = (): AbortSignal => {
      const time = AbortSignal.timeout(Math.max(0, deadlineAt - Date.now()));
      return call.signal ? AbortSignal.any([call.signal, time]) : time;
    };
    const path = PATHS[call.method];
    let ending: UnaryEnding;
    try {
      ending = await pool.use(call.table, patience, (channels) =>
        channels.unary(path, call.request, metadataOf(call), deadlineAt, call.signal),
      );
    } catch (error) {
      // The channel's own endings never reject: whatever is thrown was thrown before a request was made.
      return failed('UNAVAILABLE', `no client: ${toError(error).message}`, true);
    }
    return ending.answer
      ? { kind: 'answered', answer: ending.answer }
      : failed(statusName(ending.status.code), ending.status.details, !ending.isSent);
  };
}

const failed = (code: ReturnType<typeof statusName>, message: string, isUnsent: boolean): RowReply => ({
  kind: 'failed',
  status: { code, message },
  isUnsent,
});

/** Tables of one instance are few; a resolver that names more pays for the metadata of each call. */
const MAX_KEPT_METADATA = 1000;

/** One `Metadata` for all calls of a table and profile: the channel copies what it sends. */
function cachedMetadata(): (call: RowCall) => Metadata {
  const kept = new Map<string, Metadata>();
  return ({ table, appProfileId }) => {
    const params = `table_name=${encodeURIComponent(tablePath(table))}&app_profile_id=${encodeURIComponent(appProfileId)}`;
    const known = kept.get(params);
    if (known) return known;
    const metadata = new Metadata();
    metadata.set('x-goog-api-client', API_CLIENT);
    metadata.set('x-goog-request-params', params);
    if (kept.size < MAX_KEPT_METADATA) kept.set(params, metadata);
    return metadata;
  };
}
