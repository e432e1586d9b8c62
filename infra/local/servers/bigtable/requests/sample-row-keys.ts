import type {
  SampleRowKeysRequest,
  SampleRowKeysResponse,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { tableOf, type Database } from '../database.ts';
import { bytesOf, type Row } from '../rows/row.ts';
import { keyRanges, rowsIn } from './row-ranges.ts';

/**
 * SampleRowKeys: where the table's tablets meet, which are the splits that it was created with or those that its tablets
 * were moved to, then the end of the table as an empty key (or the end of the range that was asked for). Offsets are the
 * bytes of the rows before a key. Where samples drift, one boundary in four is left out each time, and one row in a
 * hundred is one more.
 */
export function sampleRowKeys(database: Database, request: SampleRowKeysRequest): SampleRowKeysResponse[] {
  const table = tableOf(database, request);
  const [range] = keyRanges(request.rowRange && { rowKeys: [], rowRanges: [request.rowRange] });
  const { start = '', end } = range ?? {};
  const { driftingSamples, random } = database;
  const boundaries = table.splits.filter(
    (key) => key > start && (end === undefined || key < end) && !(driftingSamples && random() < MISSING_SHARE),
  );
  const samples: SampleRowKeysResponse[] = [];
  let bytes = 0;
  const add = (key: string): void => {
    samples.push({ rowKey: bytesOf(key), offsetBytes: BigInt(bytes) });
  };
  let next = 0;
  for (const row of rowsIn(table.rows, range ? [range] : [], false)) {
    for (let key = boundaries[next]; key !== undefined && key <= row.key; key = boundaries[next]) {
      add(key);
      next += 1;
    }
    if (driftingSamples && row.key > start && row.key !== boundaries[next - 1] && random() < STRAY_SHARE) add(row.key);
    bytes += rowBytes(row);
  }
  for (const key of [...boundaries.slice(next), end ?? '']) add(key);
  return samples;
}

const MISSING_SHARE = 0.25;
const STRAY_SHARE = 0.01;

function rowBytes({ key, cells }: Row): number {
  let bytes = key.length;
  for (const { family, qualifier, value } of cells) bytes += family.length + qualifier.length + value.length + 8;
  return bytes;
}
