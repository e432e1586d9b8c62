import { printableBytes } from '../../../../../shared/model/bytes.ts';
import { ReadRowsRequest } from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { ErrorInfo } from '../../../../../shared/proto/google/rpc/error_details.ts';
import { Status } from '../../../../../shared/proto/google/rpc/status.ts';
import { STATUS_CODES } from '../../../../../shared/model/status.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { Limits } from '../limits.ts';
import { bytesOf, type ReadCell } from '../rows/row.ts';

/** Why a scan is not begun, or not gone on with. */

/** The service refused a request of 524,295 bytes and took one of 524,285 (googleapis/google-cloud-python#6836), in these words. */
export function requestProblem(request: ReadRowsRequest, { readRequestBytes }: Limits): GrpcError | undefined {
  if (request.rowsLimit < 0n) return new GrpcError('INVALID_ARGUMENT', 'rows_limit must not be negative');
  // Only many keys or ranges make a request large.
  const count = (request.rows?.rowKeys.length ?? 0) + (request.rows?.rowRanges.length ?? 0);
  if (count < 2 && readRequestBytes >= MIN_MEASURED_BYTES) return undefined;
  return ReadRowsRequest.encode(request).finish().length > readRequestBytes
    ? new GrpcError('INVALID_ARGUMENT', 'Request contains an invalid argument.')
    : undefined;
}

/** One range and a filter at their largest stay far below it. */
const MIN_MEASURED_BYTES = 256 * 1024;

/** What the service says of a row above its limit, its key in the details beside it. */
export function rowProblem(
  table: string,
  key: string,
  cells: readonly ReadCell[],
  { readRowBytes }: Limits,
): GrpcError | undefined {
  let bytes = 0;
  for (const { value, qualifier } of cells) bytes += value.length + qualifier.length;
  if (bytes <= readRowBytes) return undefined;
  const message =
    `Error while reading table '${table}' : Read returned ${inMib(bytes)} from row '${printableBytes(bytesOf(key))}' which exceeds the limit of ` +
    `${inMib(readRowBytes)}. Make sure you are setting an appropriate request filter to retrieve only recent versions and only the columns you want.`;
  const info = ErrorInfo.encode({
    reason: 'LargeRowReadError',
    domain: 'bigtable.googleapis.com',
    metadata: { rowKeyBase64Encoded: bytesOf(key).toString('base64') },
  }).finish();
  const details = Status.encode({
    code: STATUS_CODES.FAILED_PRECONDITION,
    message,
    details: [{ typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo', value: Buffer.from(info) }],
  }).finish();
  return new GrpcError('FAILED_PRECONDITION', message, Buffer.from(details));
}

const inMib = (bytes: number): string => `${Math.ceil(bytes / (1024 * 1024))}MiB`;

/** The tablet that was read is elsewhere now. */
export const tabletMoved = (): GrpcError =>
  new GrpcError('UNAVAILABLE', 'The tablet that is read was moved; read on from the last row');
