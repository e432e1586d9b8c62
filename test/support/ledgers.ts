import { type Ledger } from '../../shared/change-stream/ledger/ledger.ts';
import { mergeId, missingId } from '../../shared/change-stream/ledger/ids.ts';
import type { HeldPartition, Merge, Missing, Partition, Token } from '../../shared/change-stream/ledger/partition.ts';
import type { LedgerWrite } from '../../shared/change-stream/ledger/writes.ts';
import type { RowRange } from '../../shared/model/row-range.ts';
import type { Versioned } from '../../shared/model/store.ts';
import type { SlotRead } from '../../shared/slots/ports.ts';
import { range } from './partitions.ts';

/** Ledgers of a change stream as tests write them. */

export const merge = (
  target: RowRange,
  tokens: readonly Token[],
  lowWatermark = 100n,
  others: Partial<Merge> = {},
): Merge => ({ id: mergeId(1, target), generation: 1, target, tokens, lowWatermark, round: 1, ...others });

export const missing = (start: string, end: string, firstObserved: number, lowWatermark = 100n): Missing => ({
  id: missingId(1, range(start, end), 'test'),
  ...{ generation: 1, range: range(start, end), firstObserved, lowWatermark },
});

/** The document of a slot, as it was read. */
export const slotWith = (epoch: number, units: Record<string, HeldPartition>): SlotRead<HeldPartition> => ({
  value: { owner: 'o', epoch, attempt: 1, units },
  ...{ version: 'v', updatedAt: 0, readAt: 0 },
});

interface Parts {
  readonly partitions?: readonly Partition[];
  readonly merges?: readonly Merge[];
  readonly missing?: readonly Missing[];
  readonly slots?: Ledger['slots'];
}

export const ledgerOf = ({ partitions = [], merges = [], missing: lost = [], slots = new Map() }: Parts): Ledger => ({
  topology: { number: 7, version: 't7' },
  partitions: partitions.map(versioned),
  merges: merges.map(versioned),
  missing: lost.map(versioned),
  slots,
});

const versioned = <Value>(value: Value): Versioned<Value> => ({ value, version: 'v1' });

/** The ledger after a commit, as a store would have it. */
export function applied(ledger: Ledger, writes: readonly LedgerWrite[]): Ledger {
  const partitions = new Map(ledger.partitions.map(({ value }) => [value.id, value]));
  const merges = new Map(ledger.merges.map(({ value }) => [value.id, value]));
  const lost = new Map(ledger.missing.map(({ value }) => [value.id, value]));
  let { number } = ledger.topology;
  for (const write of writes) {
    switch (write.kind) {
      case 'partition':
        partitions.set(write.partition.id, write.partition);
        break;
      case 'new-partition':
        if (partitions.has(write.partition.id)) throw new Error(`${write.partition.id} is there`);
        partitions.set(write.partition.id, write.partition);
        break;
      case 'partition-gone':
        partitions.delete(write.id);
        break;
      case 'merge':
        if ((write.version !== undefined) !== merges.has(write.merge.id)) throw new Error('a merge is not as it was');
        merges.set(write.merge.id, write.merge);
        break;
      case 'merge-gone':
        if (!merges.delete(write.id)) throw new Error('a merge is gone');
        break;
      case 'missing':
        if ((write.version !== undefined) !== lost.has(write.missing.id)) throw new Error('a gap is not as it was');
        lost.set(write.missing.id, write.missing);
        break;
      case 'missing-gone':
        if (!lost.delete(write.id)) throw new Error('a gap is gone');
        break;
      case 'topology-moved':
      case 'topology-moved-from':
        number += 1;
        break;
      default:
        write satisfies never;
    }
  }
  const after = ledgerOf({
    ...{ partitions: [...partitions.values()], merges: [...merges.values()] },
    ...{ missing: [...lost.values()], slots: ledger.slots },
  });
  return { ...after, topology: { number, version: `t${number}` } };
}
