import { bytesOfBase64 } from '../../model/bytes.ts';
import { ErrorInfo } from '../../proto/google/rpc/error_details.ts';
import { Status } from '../../proto/google/rpc/status.ts';

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

/** How the service says that a row is above the 256 MiB that it reads, as Google's Java client knows it. */
const LARGE_ROW = 'LargeRowReadError';
const ROW_KEY = 'rowKeyBase64Encoded';

/**
 * The key of the row that the service will not read for its size; undefined when the ending is about something else.
 *
 * @param details the encoded `google.rpc.Status` that came with the ending.
 */
export function oversizedRowKey(details: Buffer | undefined): Buffer | undefined {
  if (!details) return undefined;
  try {
    for (const { typeUrl, value } of Status.decode(details).details) {
      if (typeUrl !== ERROR_INFO) continue;
      const { reason, metadata } = ErrorInfo.decode(value);
      const key = reason === LARGE_ROW ? bytesOfBase64(metadata[ROW_KEY] ?? '') : undefined;
      if (key && key.length > 0) return key;
    }
  } catch {
    // Details that cannot be read say nothing; the status stands.
  }
  return undefined;
}
