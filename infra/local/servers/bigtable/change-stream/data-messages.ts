import {
  ReadChangeStreamResponse_DataChange_Type as Type,
  type ReadChangeStreamResponse,
  type ReadChangeStreamResponse_MutationChunk,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Mutation } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { bytesOf } from '../rows/row.ts';
import type { LogRecord } from './log.ts';
import { type Nanos, timestampOf } from './span.ts';

/** How a change is put into messages, which the service leaves open. */
export interface ChunkShape {
  /** A longer value of a SetCell travels in pieces of so many bytes. */
  readonly pieceBytes: number;
  /** A message goes out when its entries hold this much. */
  readonly messageBytes: number;
}

/** Few messages for a change, and none near a client's default limit of 4 MiB. */
export const USUAL_CHUNKS: ChunkShape = { pieceBytes: 1024 * 1024, messageBytes: 1024 * 1024 };

/** Every entry alone, and every value in two pieces at least where it has two bytes. */
export const smallestChunks = (record: LogRecord): ChunkShape => {
  let longest = 2;
  for (const { mutation } of record.mutations) {
    if (mutation?.$case === 'setCell') longest = Math.max(longest, mutation.value.value.length);
  }
  return { pieceBytes: Math.ceil(longest / 2), messageBytes: 1 };
};

/**
 * A record as messages: the first names the row, the last is `done` and carries the token. A piece that is not its value's
 * last is the last entry of its message. Pure; pieces share the value's memory.
 *
 * @param token of the position behind the record.
 */
export function dataMessages(
  record: LogRecord,
  token: string,
  lowWatermark: Nanos,
  shape: ChunkShape,
): ReadChangeStreamResponse[] {
  const parts = partsOf(record.mutations, shape);
  return parts.map((chunks, at) => {
    const isFirst = at === 0;
    const done = at === parts.length - 1;
    return {
      streamRecord: {
        $case: 'dataChange',
        value: {
          type: isFirst ? Type[record.type] : Type.CONTINUATION,
          sourceClusterId: isFirst ? record.sourceCluster : '',
          rowKey: isFirst ? bytesOf(record.rowKey) : NOTHING,
          commitTimestamp: isFirst ? timestampOf(record.commitTime) : undefined,
          tiebreaker: isFirst ? record.tieBreaker : 0,
          chunks,
          done,
          token: done ? token : '',
          estimatedLowWatermark: done ? timestampOf(lowWatermark) : undefined,
        },
      },
    };
  });
}

type Chunk = ReadChangeStreamResponse_MutationChunk;

const NOTHING = Buffer.alloc(0);

function partsOf(mutations: readonly Mutation[], { pieceBytes, messageBytes }: ChunkShape): Chunk[][] {
  const parts: Chunk[][] = [];
  let part: Chunk[] = [];
  let bytes = 0;
  const flush = (): void => {
    parts.push(part);
    part = [];
    bytes = 0;
  };
  for (const mutation of mutations) {
    for (const chunk of chunksOf(mutation, pieceBytes)) {
      if (bytes >= messageBytes) flush();
      part.push(chunk);
      bytes += ENTRY_BYTES + valueBytes(chunk.mutation);
      if (chunk.chunkInfo?.lastChunk === false) flush();
    }
  }
  if (part.length > 0 || parts.length === 0) flush();
  return parts;
}

/** What an entry weighs beside its value. */
const ENTRY_BYTES = 32;

const valueBytes = (mutation: Mutation | undefined): number =>
  mutation?.mutation?.$case === 'setCell' ? mutation.mutation.value.value.length : 0;

function chunksOf(mutation: Mutation, pieceBytes: number): Chunk[] {
  const cell = mutation.mutation?.$case === 'setCell' ? mutation.mutation.value : undefined;
  if (!cell || cell.value.length <= pieceBytes) return [{ chunkInfo: undefined, mutation }];
  const chunkedValueSize = cell.value.length;
  const chunks: Chunk[] = [];
  for (let from = 0; from < chunkedValueSize; from += pieceBytes) {
    const value = cell.value.subarray(from, from + pieceBytes);
    // Only the first piece names its cell: of the others a reader must look at the value alone.
    const piece =
      from === 0 ? { ...cell, value } : { familyName: '', columnQualifier: NOTHING, timestampMicros: 0n, value };
    chunks.push({
      chunkInfo: {
        chunkedValueSize,
        chunkedValueOffset: from,
        lastChunk: from + pieceBytes >= chunkedValueSize,
      },
      mutation: { mutation: { $case: 'setCell', value: piece } },
    });
  }
  return chunks;
}
