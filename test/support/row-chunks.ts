import { ReadRowsResponse, type ReadRowsResponse_CellChunk } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Cell, Row } from '../../shared/model/row.ts';

/** A chunk of `ReadRows` as a test writes it. */
export interface Chunk {
  readonly key?: string;
  readonly family?: string;
  readonly qualifier?: string;
  readonly micros?: bigint;
  readonly labels?: readonly string[];
  readonly value?: string | Buffer;
  readonly size?: number;
  readonly status?: 'commit' | 'reset' | 'no commit';
}

const STATUSES = {
  commit: { $case: 'commitRow', value: true },
  'no commit': { $case: 'commitRow', value: false },
  reset: { $case: 'resetRow', value: true },
} as const;

export const wireChunk = ({
  key = '',
  family,
  qualifier,
  micros = 0n,
  labels = [],
  value = '',
  size = 0,
  status,
}: Chunk): ReadRowsResponse_CellChunk => ({
  rowKey: Buffer.from(key),
  familyName: family,
  qualifier: qualifier === undefined ? undefined : Buffer.from(qualifier),
  timestampMicros: micros,
  labels: [...labels],
  value: Buffer.from(value),
  valueSize: size,
  rowStatus: status && { ...STATUSES[status] },
});

/** One message of `ReadRows`, encoded. */
export const rowsMessage = (chunks: readonly Chunk[], lastScanned: string | Buffer = ''): Buffer =>
  encodedMessage(chunks.map(wireChunk), Buffer.from(lastScanned));

export const encodedMessage = (
  chunks: readonly ReadRowsResponse_CellChunk[],
  lastScannedRowKey: Buffer = Buffer.alloc(0),
): Buffer =>
  Buffer.from(ReadRowsResponse.encode({ chunks: [...chunks], lastScannedRowKey, requestStats: undefined }).finish());

/** `family:qualifier@timestamp=value`, with the labels after it. */
export const cellText = ({ family, qualifier, timestampMicros, value, labels }: Cell): string =>
  `${family}:${qualifier.toString()}@${timestampMicros}=${value.toString()}${labels.map((label) => ` #${label}`).join('')}`;

export const rowText = ({ key, cells }: Row): string => `${key.toString()} ${cells.map(cellText).join(' ')}`;
