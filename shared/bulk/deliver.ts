import type { BatchActions } from './batch-actions.ts';
import { decide } from './isolate.ts';
import type { LaneEntry, RowWrite } from './lane.ts';
import { repairMissing, setAside } from './repair.ts';

/**
 * One batch from its request to a decision on every entry: sent, narrowed down where it was refused together, and
 * where the pipeline creates what is missing, repaired and sent again. An entry that met a transient failure goes back to its
 * lane and is sent again in another batch.
 */
export async function deliverBatch<Entry extends LaneEntry>(
  batch: readonly RowWrite<Entry>[],
  actions: BatchActions<Entry>,
): Promise<void> {
  const { repair } = actions;
  if (!repair) {
    await decide(batch, 'write', { actions });
    return;
  }
  const before = repair.known();
  const missing = await setAside(batch, actions, repair);
  await repairMissing(missing, before, actions, repair);
}
