import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  ReadRowsRequest,
  ReadRowsResponse,
  ReadRowsResponse_CellChunk,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { StreamedCall } from '../../rpc/calls.ts';
import { GrpcError, refusal } from '../../rpc/grpc.ts';
import { nowMicros, tableOf, type Database } from '../database.ts';
import type { EffectOf } from '../faults.ts';
import { compileFilter, passingCells } from '../filters/filters.ts';
import { chunkBytes, rowChunks } from './chunks.ts';
import { keyRanges, rowsIn } from './row-ranges.ts';

/** A message goes out when it holds this much: few messages per scan, and far from a client's default limit of 4 MiB. */
const MESSAGE_BYTES = 256 * 1024;

/** Rows looked at before other calls get a turn, for scans whose filter lets little through. */
const ROWS_PER_TURN = 2000;

/**
 * ReadRows: the rows of the row set in order, filtered, many to a message, until the limit. It reads on only as fast
 * as the reader takes messages, and sees writes that happen meanwhile to rows it has not reached.
 */
export async function readRows(
  database: Database,
  request: ReadRowsRequest,
  { effect, send, signal }: StreamedCall<EffectOf<'ReadRows'>, ReadRowsResponse>,
): Promise<void> {
  const table = tableOf(database, request);
  if (request.rowsLimit < 0n) throw new GrpcError('INVALID_ARGUMENT', 'rows_limit must not be negative');
  const ranges = keyRanges(request.rows);
  const filter = compileFilter(request.filter, table.families, database);
  const isUnlimited = request.rowsLimit === 0n;
  const cut = effect?.kind === 'cut-scan' ? effect : undefined;
  const message = startMessage(send);
  let sent = 0n;
  let looked = 0;
  for (const row of rowsIn(table.rows, ranges, request.reversed)) {
    if (cut && sent >= cut.rows) break;
    looked += 1;
    if (looked % ROWS_PER_TURN === 0) {
      await nextTurn();
      signal.throwIfAborted();
    }
    const cells = passingCells(filter, row, table.gcRuleOf, nowMicros(database));
    if (cells.length === 0) continue;
    await message.add(rowChunks(row.key, cells));
    sent += 1n;
    if (!isUnlimited && sent === request.rowsLimit) break;
  }
  await message.flush();
  if (cut) throw refusal(cut.status);
}

/** Gathers the chunks of rows into messages. A row may span messages; a message may hold many rows. */
function startMessage(send: (message: ReadRowsResponse) => Promise<void>): {
  add(added: readonly ReadRowsResponse_CellChunk[]): Promise<void>;
  flush(): Promise<void>;
} {
  let chunks: ReadRowsResponse_CellChunk[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (chunks.length === 0) return;
    const message = { chunks, lastScannedRowKey: Buffer.alloc(0), requestStats: undefined };
    chunks = [];
    bytes = 0;
    await send(message);
  };
  const add = async (added: readonly ReadRowsResponse_CellChunk[]): Promise<void> => {
    for (const chunk of added) {
      chunks.push(chunk);
      bytes += chunkBytes(chunk);
      if (bytes >= MESSAGE_BYTES) await flush();
    }
  };
  return { add, flush };
}
