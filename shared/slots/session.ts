import { ConnectorError } from '../base/errors.ts';
import type { Units } from './ports.ts';

/** What a slot's document is to become, beside the lease. */
export interface SlotEdit<Held, Change> {
  readonly units: Units<Held>;
  /** Own documents of units, in the same commit. */
  readonly changes: readonly Change[];
}

/** Something that is to be written. Made so that it can be made again: after a conflict the document may be another. */
export interface SlotUpdate<Held, Change> {
  /** Pure. Undefined: nothing of it is left to write, as where the unit is not this slot's any more. */
  edit(units: Units<Held>): SlotEdit<Held, Change> | undefined;
  /** It depends on documents that other slots write too. Where they were faster it is given up, and nothing else with it. */
  readonly isClaim?: boolean;
}

export type UpdateOutcome =
  | 'written'
  /** It was a claim, and another slot was faster. */
  | 'conflict'
  /** There was nothing left to write. */
  | 'moot';

/**
 * A slot in the hands of one invocation: every write of its document goes through here, one after the other; what wants
 * to be written at one time goes in one commit. Each write renews the lease, and one is made where none was for a while.
 */
export interface SlotSession<Held, Change> {
  readonly slot: number;
  readonly owner: string;
  readonly epoch: number;
  /**
   * The units of the slot, by the last write that is confirmed or the last time that the document was read back. This is
   * the truth to go on from, whatever an update was answered: whoever works at a unit that is not here stops, and a unit
   * that is here and that nobody works at is to be worked at.
   */
  readonly units: Units<Held>;
  /** Aborts when another has the slot: nothing may be sent any more, and no write would be accepted. */
  readonly lost: AbortSignal;
  /**
   * Milliseconds for which the lease surely lasts, perhaps none: 60 s counted from before the last confirmed write was
   * sent, by wall clock and monotonic clock, whichever went further. It grows again with the next write that is confirmed.
   */
  remainingMillis(): number;
  /** Resolves when it is known what became of it; rejects when the slot is lost, or with the session's signal. */
  update(update: SlotUpdate<Held, Change>): Promise<UpdateOutcome>;
  /**
   * Writes what waits to be written, then gives every unit and the slot back, in one commit. The last call of a session.
   * Resolves also where the slot is another's by then.
   */
  release(): Promise<void>;
}

/** Another has the slot by now, or it was given back. What was not written is whoever's takes its units. */
export class SlotLostError extends ConnectorError {
  override readonly name = 'SlotLostError';

  constructor(slot: number) {
    super(`slot ${slot} is not this invocation's any more; its units go on from their last positions elsewhere`);
  }
}
