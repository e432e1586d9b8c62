import { toError } from '../base/errors.ts';
import { describeError } from '../base/logging.ts';
import type { TableKeeper } from './repair/table-keeper.ts';
import { repairMissing, setAside } from './repair/repair-missing.ts';
import { Batch, type BatchSurroundings } from './sending/batch.ts';
import { decide } from './sending/isolate.ts';
import type { TableLane } from './sending/table-lane.ts';
import type { RowWrite } from './sending/write-queue.ts';

/** What the batches of an instance are delivered by. */
export interface Delivery extends BatchSurroundings {
  /** Creates what is missing; absent under create-never. */
  readonly tables?: TableKeeper;
}

/** Runs one batch to its end. Its promise is not awaited by anyone, so nothing may reject: every path settles. */
export function startBatch(writes: readonly RowWrite[], lane: TableLane, delivery: Delivery): void {
  for (const { parts } of writes) for (const part of parts) part.isHeld = true;
  deliver(writes, new Batch(lane, delivery), delivery.tables)
    .catch((error: unknown) => {
      giveBack(writes, lane, toError(error), delivery);
    })
    .finally(() => {
      lane.leave();
    })
    .catch((error: unknown) => {
      delivery.runtime.logger.log('ERROR', 'the batcher failed', { error: describeError(error) });
    });
}

/**
 * One batch from its request to a decision on every entry: sent, narrowed down where it was refused together, and
 * where the pipeline creates what is missing, repaired and sent again. An entry that met a transient failure goes back
 * to its lane and is sent again in another batch.
 */
async function deliver(writes: readonly RowWrite[], batch: Batch, tables: TableKeeper | undefined): Promise<void> {
  if (!tables) {
    await decide(writes, 'write', { batch });
    return;
  }
  const before = tables.known(batch.table);
  const missing = await setAside(writes, batch);
  await repairMissing(missing, before, batch, tables);
}

/** No request could be made, or the code is wrong: everything undecided goes back to Pub/Sub, and the rows are free. */
function giveBack(
  writes: readonly RowWrite[],
  { key, queue }: TableLane,
  error: Error,
  { runtime, settlement }: Delivery,
): void {
  runtime.logger.log('ERROR', 'a batch could not be sent', { table: key, error: describeError(error) });
  const message = `MutateRows on ${key} could not be sent: ${error.message}`;
  for (const write of writes) {
    const undecided = write.parts.filter(({ isHeld, isSettled }) => isHeld && !isSettled);
    for (const entry of undecided) settlement.finish(entry, { kind: 'redeliver', reason: 'client', message });
    if (undecided.length > 0) queue.release(write);
  }
}
