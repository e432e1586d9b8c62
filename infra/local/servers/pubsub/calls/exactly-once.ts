import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { Metadata } from '@grpc/grpc-js';
import { STATUS_CODES } from '../../../../../shared/model/status.ts';
import { Status } from '../../../../../shared/proto/google/rpc/status.ts';
import { GrpcError } from '../../rpc/grpc.ts';

/** How exactly-once delivery tells a subscriber which acknowledgements came too late. */
const INVALID_ACK_ID = 'PERMANENT_FAILURE_INVALID_ACK_ID';

/** A refusal that names its acknowledgement ids in a `google.rpc.ErrorInfo`, where the clients look for them. */
export class StaleAcknowledgementError extends GrpcError {
  readonly metadata = new Metadata();

  constructor(ackIds: readonly string[]) {
    const rule = `${ackIds.length} acknowledgement ids are not those of a current lease`;
    super('FAILED_PRECONDITION', rule);
    const details = Status.encode({
      code: STATUS_CODES.FAILED_PRECONDITION,
      message: rule,
      details: [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value: errorInfo(ackIds) }],
    });
    this.metadata.set('grpc-status-details-bin', Buffer.from(details.finish()));
  }
}

/** ErrorInfo { reason = 1; domain = 2; map<string, string> metadata = 3 } (google/rpc/error_details.proto). */
function errorInfo(ackIds: readonly string[]): Buffer {
  const writer = new BinaryWriter();
  writer.uint32(10).string(INVALID_ACK_ID);
  writer.uint32(18).string('pubsub.googleapis.com');
  for (const ackId of ackIds) {
    writer.uint32(26).fork().uint32(10).string(ackId).uint32(18).string(INVALID_ACK_ID).join();
  }
  return Buffer.from(writer.finish());
}

/** Lets stale ids pass, as the service does, unless the subscription delivers exactly once. */
export function refuseStale(ackIds: readonly string[], isExactlyOnce: boolean): void {
  if (isExactlyOnce && ackIds.length > 0) throw new StaleAcknowledgementError(ackIds);
}
