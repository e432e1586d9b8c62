import { statusName } from '../../model/status.ts';
import type { ReadChangeStreamResponse_CloseStream as CloseStream } from '../../proto/google/bigtable/v2/bigtable.ts';
import type { StreamContinuationToken } from '../../proto/google/bigtable/v2/data.ts';
import type { Token } from '../ledger/partition.ts';
import type { StreamEvent, StreamSuccessor } from './ports.ts';
import { partitionRange, StreamProtocolError } from './wire-rules.ts';

/**
 * The end of a partition. Either the end time is reached, which is OK without tokens; or others go on where it stopped:
 * each token with the new partition at its own place, or each in a partition of the range that it was issued for.
 */
export function closeOf({ status, continuationTokens, newPartitions }: CloseStream): StreamEvent {
  const { code = 0, message = '' } = status ?? {};
  const isEnd = code === 0;
  const { length } = continuationTokens;
  if (isEnd && length > 0) throw new StreamProtocolError('a partition was closed with OK and with tokens');
  if (!isEnd && length === 0) throw new StreamProtocolError('a partition was closed without a token');
  if (newPartitions.length > 0 && newPartitions.length !== length) {
    throw new StreamProtocolError(`a close names ${newPartitions.length} partitions and ${length} tokens`);
  }
  const successors = continuationTokens.map((encoded, index): StreamSuccessor => {
    const token = tokenOf(encoded);
    const target = newPartitions[index];
    return { target: target ? partitionRange(target) : token.range, token };
  });
  return { kind: 'close', isEnd, status: { code: statusName(code), message }, successors };
}

function tokenOf({ partition, token }: StreamContinuationToken): Token {
  if (token === '') throw new StreamProtocolError('a close has an empty token');
  if (partition === undefined) throw new StreamProtocolError('a close has a token without its partition');
  return { range: partitionRange(partition), token };
}
