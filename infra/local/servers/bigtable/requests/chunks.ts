import type { ReadRowsResponse_CellChunk } from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { type ReadCell, bytesOf } from '../rows/row.ts';

const NOTHING = Buffer.alloc(0);

/**
 * A row as the chunks of ReadRows. Rules that readers check: the first chunk of a row names it; family and qualifier
 * are named only where they change, and a family never without a qualifier; all pieces of a value but the last say its
 * whole size; only the last chunk of the row commits it. `cells` must not be empty. Pure.
 *
 * @param pieceBytes longer values travel in pieces of this many bytes.
 */
export function rowChunks(key: string, cells: readonly ReadCell[], pieceBytes: number): ReadRowsResponse_CellChunk[] {
  const chunks: ReadRowsResponse_CellChunk[] = [];
  let family: string | undefined;
  let qualifier: string | undefined;
  for (const cell of cells) {
    const isNewFamily = cell.family !== family;
    const isNewQualifier = isNewFamily || cell.qualifier !== qualifier;
    chunks.push({
      rowKey: chunks.length === 0 ? bytesOf(key) : NOTHING,
      familyName: isNewFamily ? cell.family : undefined,
      qualifier: isNewQualifier ? bytesOf(cell.qualifier) : undefined,
      timestampMicros: cell.timestampMicros,
      labels: cell.labels ? [...cell.labels] : [],
      ...piece(cell.value, 0, pieceBytes),
      rowStatus: undefined,
    });
    for (let from = pieceBytes; from < cell.value.length; from += pieceBytes) {
      chunks.push({ ...CONTINUATION, ...piece(cell.value, from, pieceBytes) });
    }
    ({ family, qualifier } = cell);
  }
  const last = chunks.at(-1);
  if (last) last.rowStatus = { $case: 'commitRow', value: true };
  return chunks;
}

const CONTINUATION: Omit<ReadRowsResponse_CellChunk, 'value' | 'valueSize'> = {
  rowKey: NOTHING,
  familyName: undefined,
  qualifier: undefined,
  timestampMicros: 0n,
  labels: [],
  rowStatus: undefined,
};

/** The piece of the value that starts at `from`, and the size to announce with it: 0 with the last piece. */
function piece(
  value: Buffer,
  from: number,
  pieceBytes: number,
): Pick<ReadRowsResponse_CellChunk, 'value' | 'valueSize'> {
  const to = from + pieceBytes;
  return { value: value.subarray(from, to), valueSize: to < value.length ? value.length : 0 };
}

/** Half of a row, uncommitted, and the chunk that takes it back. */
export function begunAndReset(chunks: readonly ReadRowsResponse_CellChunk[]): ReadRowsResponse_CellChunk[] {
  const begun = chunks.slice(0, Math.max(1, Math.floor(chunks.length / 2)));
  const reset = {
    ...CONTINUATION,
    value: NOTHING,
    valueSize: 0,
    rowStatus: { $case: 'resetRow', value: true },
  } as const;
  return [...begun.map((chunk) => ({ ...chunk, rowStatus: undefined })), reset];
}

/** Roughly what the chunk adds to a message. */
export const chunkBytes = (chunk: ReadRowsResponse_CellChunk): number =>
  chunk.rowKey.length + (chunk.qualifier?.length ?? 0) + chunk.value.length + 32;
