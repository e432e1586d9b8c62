import type { Version, Versioned } from '../model/store.ts';

/** What a slot has: unit → what its owner knows of it, position and counts included. */
export type Units<Held> = Readonly<Record<string, Held>>;

/** The document of a slot: lease, fence and progress in one. */
export interface SlotState<Held> {
  /** Unique to one invocation; empty: nobody's. */
  readonly owner: string;
  /** Grows by one with every new owner. */
  readonly epoch: number;
  /** Grows with every write of one owner, repeated ones included: no two writes are alike, and each is known by it. */
  readonly attempt: number;
  readonly units: Units<Held>;
}

/** A slot's document as it was read. Times are the store's own, in milliseconds since the epoch: no other clock decides. */
export interface SlotRead<Held> extends Versioned<SlotState<Held>> {
  /** When it was written last. */
  readonly updatedAt: number;
  /** When it was read. */
  readonly readAt: number;
}

/** One atomic commit of a slot. */
export interface SlotCommit<Held, Change> {
  readonly slot: number;
  /** Of the document as it was read; undefined: there is none yet. */
  readonly version: Version | undefined;
  readonly value: SlotState<Held>;
  /** Own documents of units that change hands or end, in this commit or not at all. */
  readonly changes: readonly Change[];
}

export type SlotCommitResult =
  | { readonly kind: 'committed'; readonly version: Version }
  /** A document was no longer what it was when it was read: nothing at all was written by this attempt. */
  | { readonly kind: 'conflict' };

/**
 * Where slots are kept. Each method tells what happened or rejects with a `StoreError`, after which a commit may have
 * happened, may happen later, or not; every wait ends with `signal`. A commit that happens twice conflicts with itself:
 * its own first time changed the version that it depends on.
 *
 * @typeParam Held what a slot knows of a unit that it has.
 * @typeParam Change what is written to a unit's own document.
 */
export interface SlotStore<Held, Change> {
  /** Undefined where nobody ever had it. */
  readSlot(slot: number, signal: AbortSignal): Promise<SlotRead<Held> | undefined>;
  /** Every slot that somebody ever had, by its number. */
  readSlots(signal: AbortSignal): Promise<ReadonlyMap<number, SlotRead<Held>>>;
  commit(commit: SlotCommit<Held, Change>, signal: AbortSignal): Promise<SlotCommitResult>;
}
