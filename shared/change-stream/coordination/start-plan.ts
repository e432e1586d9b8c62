import type { Nanos } from '../../model/change.ts';
import type { RowRange } from '../../model/row-range.ts';
import { partitionId } from '../ledger/ids.ts';
import type { Partition } from '../ledger/partition.ts';
import { bytesOfPartition } from '../ledger/partition-updates.ts';
import type { LedgerWrite } from '../ledger/writes.ts';
import type { Retention, Source } from '../source.ts';
import type { AskedSource, SourceStep } from './source-step.ts';

/** How a source starts: its partitions are written, a batch a commit, and the last commit makes them the source's. Pure. */

/** What one coordinator starts a source with. */
export interface StartPlan {
  /** No other start has it: partitions of another one are nobody's. */
  readonly generation: number;
  readonly startTime: Nanos;
  /** As the service told them; at least one. */
  readonly ranges: readonly RowRange[];
  readonly retention?: Retention;
}

/** Of one commit: partitions, and about their bytes. Far from 500 writes and 4 MiB. */
const MAX_BATCH = 400;
const MAX_BATCH_BYTES = 1024 * 1024;

/** A plan is its coordinator's alone: whoever finds another one's half done makes a new one, and cleans up behind it. */
export function startStep(source: Source, plan: StartPlan, asked: AskedSource, now: number): SourceStep {
  const isOurs = source.status === 'starting' && source.generation === plan.generation;
  const from = isOurs ? (source.written ?? 0) : 0;
  const isLeft = !isOurs && source.written !== undefined;
  const batch = batchOf(plan, from, now);
  const written = from + batch.length;
  const isLast = written >= plan.ranges.length;
  const next: Source = {
    commits: source.commits,
    status: isLast ? 'reading' : 'starting',
    generation: plan.generation,
    options: asked.options,
    ...(asked.endTime !== undefined && { endTime: asked.endTime }),
    ...(plan.retention && { retention: plan.retention }),
    ...(isLast ? { startTime: plan.startTime } : { written }),
    dead: isLeft ? [...source.dead, source.generation] : source.dead,
  };
  const made = batch.map((partition): LedgerWrite => ({ kind: 'new-partition', partition }));
  return {
    event: isLast ? 'started' : 'batch',
    source: next,
    changes: isLast ? [...made, { kind: 'topology-moved' }] : made,
    hasMore: !isLast,
  };
}

function batchOf({ generation, startTime, ranges }: StartPlan, from: number, now: number): Partition[] {
  const batch: Partition[] = [];
  let bytes = 0;
  for (const range of ranges.slice(from, from + MAX_BATCH)) {
    const id = partitionId(generation, range, [], 'start');
    const held = { generation, range, position: { tokens: [], lowWatermark: startTime }, round: 1, failures: 0 };
    bytes += bytesOfPartition(id, held);
    if (batch.length > 0 && bytes > MAX_BATCH_BYTES) break;
    batch.push({ ...held, id, state: { kind: 'waiting', since: now } });
  }
  return batch;
}
