import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadRowsRequest, ReadRowsResponse } from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { StreamedCall } from '../../rpc/calls.ts';
import { refusal } from '../../rpc/grpc.ts';
import { nowMicros, tableOf, type Database } from '../database.ts';
import type { EffectOf } from '../faults.ts';
import { compileFilter, passingCells } from '../filters/filters.ts';
import { begunAndReset, rowChunks } from './chunks.ts';
import { announcedFeatures } from './features.ts';
import { requestProblem, rowProblem, tabletMoved } from './read-refusals.ts';
import { keyRanges, rowsIn } from './row-ranges.ts';
import { scanPace } from './scan-pace.ts';
import { ScanMessages } from './scan-messages.ts';

/** Rows looked at before other calls get a turn, for scans whose filter lets little through. */
const ROWS_PER_TURN = 2000;

/**
 * ReadRows: the rows of the row set in order, filtered, many to a message, until the limit. It reads on only as fast
 * as the reader takes messages, and sees writes that happen meanwhile to rows it has not reached. A caller that
 * understands it is told how far the scan is while the filter keeps everything back.
 */
export async function readRows(
  database: Database,
  request: ReadRowsRequest,
  { effect, send, signal, metadata }: StreamedCall<EffectOf<'ReadRows'>, ReadRowsResponse>,
): Promise<void> {
  const { limits, scans } = database;
  const problem = requestProblem(request, limits);
  if (problem) throw problem;
  const table = tableOf(database, request);
  const ranges = keyRanges(request.rows);
  const filter = compileFilter(request.filter, table.families, database);
  const isInformed = announcedFeatures(metadata).lastScannedRowResponses;
  const messages = new ScanMessages(send, scans, isInformed);
  const { tabletMoves } = table;
  const pace = effect?.kind === 'slow-scan' ? scanPace(effect.rowsPerSecond, database.clock, signal) : undefined;
  let sent = 0;
  let looked = 0;
  for (const row of rowsIn(table.rows, ranges, request.reversed)) {
    looked += 1;
    if (looked % ROWS_PER_TURN === 0) {
      await nextTurn();
      signal.throwIfAborted();
    }
    const cells = passingCells(filter, row, table.gcRuleOf, nowMicros(database));
    const refused = table.tabletMoves === tabletMoves ? rowProblem(table.name, row.key, cells, limits) : tabletMoved();
    if (refused) {
      await messages.flush();
      throw refused;
    }
    if (cells.length === 0) {
      await messages.keptBack(row.key);
      continue;
    }
    const chunks = rowChunks(row.key, cells, scans.pieceBytes);
    if (effect?.kind === 'cut-scan' && sent === effect.rows) {
      await messages.add(chunks.slice(0, Math.min(effect.chunks ?? 0, chunks.length - 1)));
      break;
    }
    const waiting = pace?.(sent);
    if (waiting) {
      await messages.flush();
      await waiting;
    }
    sent += 1;
    if (effect?.kind === 'reset-rows' && sent % effect.every === 0) await messages.add(begunAndReset(chunks));
    await messages.add(chunks);
    if (BigInt(sent) === request.rowsLimit) break;
  }
  await messages.flush();
  if (effect?.kind === 'cut-scan') throw refusal(effect.status);
}
