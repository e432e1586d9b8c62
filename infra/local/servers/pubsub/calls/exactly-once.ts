import { STATUS_CODES } from '../../../../../shared/model/status.ts';
import { ErrorInfo } from '../../../../../shared/proto/google/rpc/error_details.ts';
import { Status } from '../../../../../shared/proto/google/rpc/status.ts';
import { GrpcError } from '../../rpc/grpc.ts';

/** How exactly-once delivery tells a subscriber which acknowledgements came too late. */
const INVALID_ACK_ID = 'PERMANENT_FAILURE_INVALID_ACK_ID';

/** A refusal that names its acknowledgement ids in a `google.rpc.ErrorInfo`, where the clients look for them. */
export class StaleAcknowledgementError extends GrpcError {
  constructor(ackIds: readonly string[]) {
    const rule = `${ackIds.length} acknowledgement ids are not those of a current lease`;
    const info = ErrorInfo.encode({
      reason: INVALID_ACK_ID,
      domain: 'pubsub.googleapis.com',
      metadata: Object.fromEntries(ackIds.map((ackId) => [ackId, INVALID_ACK_ID])),
    }).finish();
    const details = Status.encode({
      code: STATUS_CODES.FAILED_PRECONDITION,
      message: rule,
      details: [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value: Buffer.from(info) }],
    }).finish();
    super('FAILED_PRECONDITION', rule, Buffer.from(details));
  }
}

/** Lets stale ids pass, as the service does, unless the subscription delivers exactly once. */
export function refuseStale(ackIds: readonly string[], isExactlyOnce: boolean): void {
  if (isExactlyOnce && ackIds.length > 0) throw new StaleAcknowledgementError(ackIds);
}
