import { bytesOfBase64 } from '../../model/bytes.ts';
import { ErrorInfo, RetryInfo } from '../../proto/google/rpc/error_details.ts';
import { Status } from '../../proto/google/rpc/status.ts';

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

/** How the service says that a row is above the 256 MiB that it reads, as Google's Java client knows it. */
const LARGE_ROW = 'LargeRowReadError';
const ROW_KEY = 'rowKeyBase64Encoded';

/** What an ending says beside its status. */
export interface EndingDetails {
  /** The key of the row that the service will not read for its size. */
  readonly oversizedKey?: Buffer;
  /** So long the service asks to be left alone. */
  readonly retryAfterMillis?: number;
}

/** @param encoded the `google.rpc.Status` that came with the ending. Details that cannot be read say nothing. */
export function endingDetails(encoded: Buffer | undefined): EndingDetails {
  if (!encoded) return {};
  try {
    return Status.decode(encoded).details.reduce<EndingDetails>(
      (known, { typeUrl, value }) => ({ ...known, ...detail(typeUrl, value) }),
      {},
    );
  } catch {
    return {};
  }
}

function detail(typeUrl: string, value: Buffer): EndingDetails {
  if (typeUrl === RETRY_INFO) {
    const { retryDelay } = RetryInfo.decode(value);
    return retryDelay ? { retryAfterMillis: Number(retryDelay.seconds) * 1000 + retryDelay.nanos / 1_000_000 } : {};
  }
  if (typeUrl !== ERROR_INFO) return {};
  const { reason, metadata } = ErrorInfo.decode(value);
  const key = reason === LARGE_ROW ? bytesOfBase64(metadata[ROW_KEY] ?? '') : undefined;
  return key && key.length > 0 ? { oversizedKey: key } : {};
}
