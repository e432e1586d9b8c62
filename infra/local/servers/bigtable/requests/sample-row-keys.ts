import type {
  SampleRowKeysRequest,
  SampleRowKeysResponse,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { tableOf, type Database } from '../database.ts';
import { bytesOf, type Row } from '../rows/row.ts';
import { keyRanges, rowsIn } from './row-ranges.ts';

/**
 * SampleRowKeys: where the table's tablets meet, which are the splits that it was created with, then the end of the
 * table as an empty key (or the end of the range that was asked for). Offsets are the bytes of the rows before a key.
 */
export function sampleRowKeys(database: Database, request: SampleRowKeysRequest): SampleRowKeysResponse[] {
  const table = tableOf(database, request);
  const [range] = keyRanges(request.rowRange && { rowKeys: [], rowRanges: [request.rowRange] });
  const { start = '', end } = range ?? {};
  const boundaries = table.splits.filter((key) => key > start && (end === undefined || key < end));
  const samples: SampleRowKeysResponse[] = [];
  let bytes = 0;
  for (const row of rowsIn(table.rows, range ? [range] : [], false)) {
    for (let key = boundaries[samples.length]; key !== undefined && key <= row.key; key = boundaries[samples.length]) {
      samples.push({ rowKey: bytesOf(key), offsetBytes: BigInt(bytes) });
    }
    bytes += rowBytes(row);
  }
  for (const key of [...boundaries.slice(samples.length), end ?? '']) {
    samples.push({ rowKey: bytesOf(key), offsetBytes: BigInt(bytes) });
  }
  return samples;
}

function rowBytes({ key, cells }: Row): number {
  let bytes = key.length;
  for (const { family, qualifier, value } of cells) bytes += family.length + qualifier.length + value.length + 8;
  return bytes;
}
