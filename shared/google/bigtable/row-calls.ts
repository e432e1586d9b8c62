import { toError } from '../../base/errors.ts';
import type { RowCall, RowReply, SendRowCall } from '../../model/row-call.ts';
import { statusName } from '../../model/status.ts';
import { dataMethod, TableMetadata } from './call.ts';
import type { ClientPool, HeldClient } from './clients.ts';

const METHODS: Readonly<Record<RowCall['method'], string>> = {
  CheckAndMutateRow: dataMethod('CheckAndMutateRow'),
  ReadModifyWriteRow: dataMethod('ReadModifyWriteRow'),
};

/**
 * `CheckAndMutateRow` and `ReadModifyWriteRow` over a raw gRPC channel: one request, one answer, nothing retried. The
 * deadline is the call's own; a signal with a timer is made only for a call that must wait for a client.
 */
export function createRowCalls(pool: ClientPool): SendRowCall {
  const tableMetadata = new TableMetadata();
  const sendBy = (client: HeldClient, call: RowCall, deadline: number): Promise<RowReply> =>
    new Promise((resolve) => {
      const end = (reply: RowReply): void => {
        pool.release(client);
        resolve(reply);
      };
      const { table, appProfileId, request, signals } = call;
      try {
        const metadata = tableMetadata.of(table, appProfileId);
        const sent = { method: METHODS[call.method], request, metadata, deadline };
        client.channels.unary(sent, signals, ({ answer, status, isSent }) => {
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
