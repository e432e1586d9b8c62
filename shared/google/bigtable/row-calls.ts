import { Metadata } from '@grpc/grpc-js';
import { toError } from '../../base/errors.ts';
import type { RowCall, RowReply, SendRowCall } from '../../model/row-call.ts';
import { statusName } from '../../model/status.ts';
import { tablePath } from '../../model/table-name.ts';
import type { ClientPool } from './clients.ts';
import { API_CLIENT } from './mutate-rows.ts';

const SERVICE = '/google.bigtable.v2.Bigtable';

/** `CheckAndMutateRow` and `ReadModifyWriteRow` over a raw gRPC channel: one request, one answer, nothing retried. */
export function createRowCalls(pool: ClientPool): SendRowCall {
  return async (call) => {
    const deadlineAt = Date.now() + call.timeoutMillis;
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(call.timeoutMillis)]);
    let isSent = false;
    try {
      return await pool.use(call.table, signal, async (channels) => {
        isSent = true;
        // The call's own deadline ends it as DEADLINE_EXCEEDED; only the caller's signal cancels it.
        const path = `${SERVICE}/${call.method}`;
        const ending = await channels.unary(path, call.request, metadataFor(call), deadlineAt, call.signal);
        return ending.answer
          ? { kind: 'answered', answer: ending.answer }
          : failed(statusName(ending.status.code), ending.status.details, !ending.isSent);
      });
    } catch (error) {
      if (isSent) throw error;
      return failed('UNAVAILABLE', `no client: ${toError(error).message}`, true);
    }
  };
}

const failed = (code: ReturnType<typeof statusName>, message: string, isUnsent: boolean): RowReply => ({
  kind: 'failed',
  status: { code, message },
  isUnsent,
});

function metadataFor({ table, appProfileId }: RowCall): Metadata {
  const metadata = new Metadata();
  metadata.set('x-goog-api-client', API_CLIENT);
  metadata.set(
    'x-goog-request-params',
    `table_name=${encodeURIComponent(tablePath(table))}&app_profile_id=${encodeURIComponent(appProfileId)}`,
  );
  return metadata;
}
