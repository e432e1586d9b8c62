import type { Nanos } from '../../model/change.ts';
import type { SlotRead } from '../../slots/ports.ts';
import type { HeldPartition, Partition, Position } from './partition.ts';

/** Slots as far as positions go by them. */
export type Slots = ReadonlyMap<number, Pick<SlotRead<HeldPartition>, 'value'>>;

/**
 * How far a partition is: while a slot has it, what that slot's document says; else what its own document says. Everybody who
 * reads the ledger asks here. An own document that names a slot of another epoch was read before or after that one changed
 * hands: its position is an older one then, never one that is too far.
 */
export function positionOf({ id, state, position }: Partition, slots: Slots): Position {
  return heldBy({ id, state }, slots)?.position ?? position;
}

/** What its slot knows of it. Undefined where it is no slot's. */
export function heldBy({ id, state }: Pick<Partition, 'id' | 'state'>, slots: Slots): HeldPartition | undefined {
  if (state.kind !== 'held') return undefined;
  const slot = slots.get(state.slot)?.value;
  return slot?.epoch === state.epoch ? slot.units[id] : undefined;
}

/** The least of some; undefined of none. */
export const leastOf = (values: readonly Nanos[]): Nanos | undefined =>
  values.reduce<Nanos | undefined>((least, value) => (least === undefined || value < least ? value : least), undefined);

/** The greatest of some; undefined of none. */
export const greatestOf = (values: readonly Nanos[]): Nanos | undefined =>
  values.reduce<Nanos | undefined>((most, value) => (most === undefined || value > most ? value : most), undefined);

const NANOS_PER_MILLI = 1_000_000n;

/** Of a time in milliseconds, perhaps with a fraction. */
export const nanosOf = (millis: number): Nanos => BigInt(Math.floor(millis)) * NANOS_PER_MILLI;

export const millisOf = (nanos: Nanos): number => Number(nanos / NANOS_PER_MILLI);
