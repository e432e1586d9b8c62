import type { SlotCommit, SlotRead, Units } from './ports.ts';

/** A slot's lease: how long it lasts, and what becomes of a slot whose lease ran out. Pure. */

/** By the clock of the store, from the last write of the slot's document. */
export const LEASE_MILLIS = 60_000;

/** An owner that wrote nothing for so long writes to renew: two of them may fail before the lease has run out. */
export const RENEW_MILLIS = 20_000;

/** No clock but the store's is asked: it says when the document was written, and when it was read. */
export const hasRunOut = ({ updatedAt, readAt }: Pick<SlotRead<unknown>, 'updatedAt' | 'readAt'>): boolean =>
  readAt - updatedAt >= LEASE_MILLIS;

/** Why a unit is given back: its owner did it, or fell silent and was not asked. */
export type Reason = 'released' | 'ran-out';

/**
 * The write to a unit's own document with which it waits for any slot, with everything that its slot knew of it.
 *
 * @param since when it may be taken.
 */
export type GiveBack<Held, Change> = (id: string, held: Held, since: number, reason: Reason) => Change;

export const giveAllBack = <Held, Change>(
  units: Units<Held>,
  now: number,
  giveBack: GiveBack<Held, Change>,
  reason: Reason,
): readonly Change[] => Object.entries(units).map(([id, held]) => giveBack(id, held, now, reason));

export type TakeDecision<Held, Change> =
  /** Nobody's, or its owner fell silent. Holds only once it is committed. */
  | { readonly kind: 'take'; readonly commit: SlotCommit<Held, Change> }
  /** An earlier attempt to take it has happened. */
  | { readonly kind: 'ours'; readonly read: SlotRead<Held> }
  /** Another's, which it is for `runsOutInMillis` at least. */
  | { readonly kind: 'held'; readonly by: string; readonly runsOutInMillis: number };

/** Whether an invocation may take a slot, and the one commit that does it. */
export function decideTake<Held, Change>(
  slot: number,
  read: SlotRead<Held> | undefined,
  owner: string,
  now: number,
  giveBack: GiveBack<Held, Change>,
): TakeDecision<Held, Change> {
  if (!read) {
    const value = { owner, epoch: 1, attempt: 1, units: {} };
    return { kind: 'take', commit: { slot, version: undefined, value, changes: [] } };
  }
  if (read.value.owner === owner) return { kind: 'ours', read };
  if (read.value.owner === '' || hasRunOut(read)) {
    return { kind: 'take', commit: takeOver(slot, read, owner, now, giveBack) };
  }
  const runsOutInMillis = LEASE_MILLIS - (read.readAt - read.updatedAt);
  return { kind: 'held', by: read.value.owner, runsOutInMillis };
}

/**
 * Takes a slot from its owner: every unit waits in its own document, with its last position and counts, and the epoch
 * grows. After it every commit of the owner before conflicts, so that no position moves back.
 *
 * @param owner the new one; empty where it is done for its units alone.
 */
export function takeOver<Held, Change>(
  slot: number,
  { version, value }: SlotRead<Held>,
  owner: string,
  now: number,
  giveBack: GiveBack<Held, Change>,
): SlotCommit<Held, Change> {
  const { epoch, attempt, units } = value;
  return {
    slot,
    version,
    value: { owner, epoch: epoch + 1, attempt: attempt + 1, units: {} },
    changes: giveAllBack(units, now, giveBack, 'ran-out'),
  };
}
