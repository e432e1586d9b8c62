import type { CollectionReference, DocumentReference, DocumentSnapshot, WriteBatch } from '@google-cloud/firestore';
import type { SlotCommit, SlotRead, SlotState, SlotStore } from '../../slots/ports.ts';
import type { FirestoreClient } from './client.ts';
import { type Fields, fieldsOf, mapIn, numbersOf, textIn, unchangedSince, versionAt, versionOf } from './fields.ts';
import { FORMAT, knownFormat } from './format.ts';
import { commitBatch, storeCall } from './store-call.ts';

/** Where the slots of one pipeline are, and what its units look like in them. */
export interface SlotDocuments<Held, Change> {
  readonly client: FirestoreClient;
  readonly slots: CollectionReference;
  slot(slot: number): DocumentReference;
  /** What a slot knows of a unit, as a map. */
  heldFields(held: Held): Record<string, unknown>;
  readHeld(snapshot: DocumentSnapshot, fields: Fields): Held;
  /** Adds what is written to a unit's own document. */
  addChange(batch: WriteBatch, change: Change): void;
}

/** They, once the client is there. */
export type OpenSlots<Held, Change> = (signal: AbortSignal) => Promise<SlotDocuments<Held, Change>>;

/** Slots as documents: each write is conditional on the version that was read, and writes of units go with it. */
export function createSlotStore<Held, Change>(open: OpenSlots<Held, Change>): SlotStore<Held, Change> {
  return {
    async readSlot(slot, signal) {
      const documents = await open(signal);
      const snapshot = await storeCall('read a slot', signal, () => documents.slot(slot).get());
      return snapshot.exists ? slotRead(documents, snapshot) : undefined;
    },
    readSlots: (signal) => readSlots(open, signal),
    async commit(commit, signal) {
      const documents = await open(signal);
      const batch = documents.client.db.batch();
      addSlotCommit(batch, documents, commit);
      const [first] = (await commitBatch('write a slot', batch, signal)) ?? [];
      return first ? { kind: 'committed', version: versionAt(first.writeTime) } : { kind: 'conflict' };
    },
  };
}

export async function readSlots<Held, Change>(
  open: OpenSlots<Held, Change>,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, SlotRead<Held>>> {
  const documents = await open(signal);
  const { docs } = await storeCall('read the slots', signal, () => documents.slots.get());
  return slotsOf(documents, docs);
}

/** By their numbers, in order. */
export function slotsOf<Held, Change>(
  documents: SlotDocuments<Held, Change>,
  snapshots: readonly DocumentSnapshot[],
): ReadonlyMap<number, SlotRead<Held>> {
  const reads = snapshots.map((snapshot) => [Number(snapshot.id), slotRead(documents, snapshot)] as const);
  return new Map(reads.toSorted(([left], [right]) => left - right));
}

const slotRead = <Held, Change>(
  documents: SlotDocuments<Held, Change>,
  snapshot: DocumentSnapshot,
): SlotRead<Held> => ({
  value: readSlotState(documents, snapshot),
  version: versionOf(snapshot),
  updatedAt: snapshot.updateTime?.toMillis() ?? 0,
  readAt: snapshot.readTime.toMillis(),
});

function readSlotState<Held, Change>(
  documents: SlotDocuments<Held, Change>,
  snapshot: DocumentSnapshot,
): SlotState<Held> {
  const state = knownFormat(snapshot, mapIn(snapshot, fieldsOf(snapshot), 'state'));
  const number = numbersOf(snapshot);
  const units = mapIn(snapshot, state, 'units');
  return {
    owner: textIn(snapshot, state, 'owner'),
    epoch: number(state, 'epoch'),
    attempt: number(state, 'attempt'),
    units: Object.fromEntries(
      Object.keys(units).map((id) => [id, documents.readHeld(snapshot, mapIn(snapshot, units, id))] as const),
    ),
  };
}

/** The slot's own write comes first. */
export function addSlotCommit<Held, Change>(
  batch: WriteBatch,
  documents: SlotDocuments<Held, Change>,
  { slot, version, value, changes }: SlotCommit<Held, Change>,
): void {
  const { owner, epoch, attempt, units } = value;
  const held = Object.entries(units).map(([id, unit]) => [id, documents.heldFields(unit)] as const);
  const fields = { state: { format: FORMAT, owner, epoch, attempt, units: Object.fromEntries(held) } };
  if (version === undefined) batch.create(documents.slot(slot), fields);
  else batch.update(documents.slot(slot), fields, unchangedSince(documents.client, version));
  for (const change of changes) documents.addChange(batch, change);
}
