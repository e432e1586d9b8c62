import type { DocumentSnapshot, WriteBatch } from '@google-cloud/firestore';
import type { HeldSplit, SplitWrite } from '../../scan/runs/split.ts';
import type { SlotCommit, SlotRead, SlotStore } from '../../slots/ports.ts';
import { unchangedSince, versionAt, versionOf } from './fields.ts';
import { readSlotState, slotFields, splitFields } from './scan-documents.ts';
import type { OpenScan, ScanPaths } from './scan-paths.ts';
import { commitBatch, storeCall } from './store-call.ts';

/** Slots as documents: each write is conditional on the version that was read, and writes of splits go with it. */
export function createSlotStore(open: OpenScan): SlotStore<HeldSplit, SplitWrite> {
  return {
    async readSlot(slot, signal) {
      const paths = await open(signal);
      const snapshot = await storeCall('read a slot', signal, () => paths.slot(slot).get());
      return snapshot.exists ? slotRead(snapshot) : undefined;
    },
    readSlots: (signal) => readSlots(open, signal),
    async commit(commit, signal) {
      const paths = await open(signal);
      const batch = paths.client.db.batch();
      addSlotCommit(batch, paths, commit);
      const [first] = (await commitBatch('write a slot', batch, signal)) ?? [];
      return first ? { kind: 'committed', version: versionAt(first.writeTime) } : { kind: 'conflict' };
    },
  };
}

export async function readSlots(
  open: OpenScan,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, SlotRead<HeldSplit>>> {
  const { slots } = await open(signal);
  const { docs } = await storeCall('read the slots', signal, () => slots.get());
  const reads = docs.map((snapshot) => [Number(snapshot.id), slotRead(snapshot)] as const);
  return new Map(reads.toSorted(([left], [right]) => left - right));
}

const slotRead = (snapshot: DocumentSnapshot): SlotRead<HeldSplit> => ({
  value: readSlotState(snapshot),
  version: versionOf(snapshot),
  updatedAt: snapshot.updateTime?.toMillis() ?? 0,
  readAt: snapshot.readTime.toMillis(),
});

/** The slot's own write comes first. */
export function addSlotCommit(
  batch: WriteBatch,
  paths: ScanPaths,
  { slot, version, value, changes }: SlotCommit<HeldSplit, SplitWrite>,
): void {
  const { client } = paths;
  if (version === undefined) batch.create(paths.slot(slot), slotFields(value));
  else batch.update(paths.slot(slot), slotFields(value), unchangedSince(client, version));
  for (const { split, version: expected } of changes) {
    const fields = splitFields(split, client);
    if (expected === undefined) batch.set(paths.split(split), fields, { mergeFields: Object.keys(fields) });
    else batch.update(paths.split(split), fields, unchangedSince(client, expected));
  }
}
