import type { Nanos } from '../../model/change.ts';
import type { Versioned } from '../../model/store.ts';
import { partitionId } from './ids.ts';
import type { Partition } from './partition.ts';
import { formatNanos } from './retention.ts';
import type { LedgerWrite } from './writes.ts';

/** A run with another end than the one it was started with. Pure. */

/** What becomes of the partitions that were read to the end before: they are read on, or they stay as they are. */
export type FinishedPartitions = 'read-on' | 'keep';

/**
 * Why an end may not be changed just so: partitions that were read to the old one would never be read again, and nobody
 * would know. Undefined where there is none of them, where the end is the same, or where it was said what becomes of them.
 */
export function changedEndProblem(
  before: Nanos | undefined,
  asked: Nanos | undefined,
  finished: number,
  told: FinishedPartitions | undefined,
): string | undefined {
  if (before === asked || finished === 0 || told !== undefined) return undefined;
  return `the end changed from ${endText(before)} to ${endText(asked)} while ${finished} partitions are read to the old one: say whether they are read on or kept as they are, or start anew`;
}

const endText = (end: Nanos | undefined): string => (end === undefined ? 'none' : formatNanos(end));

/** A partition that was read to an end goes on behind it, where it stopped. The old document tells how far it was read. */
export function readOn({ value, version }: Versioned<Partition>, now: number, keptMillis: number): LedgerWrite[] {
  const { id, position, range, generation } = value;
  const next: Partition = {
    ...value,
    id: partitionId(generation, range, position.tokens, id),
    state: { kind: 'waiting', since: now },
  };
  return [
    { kind: 'partition', partition: { ...value, state: { kind: 'done', keptUntil: now + keptMillis } }, version },
    { kind: 'new-partition', partition: next },
  ];
}
