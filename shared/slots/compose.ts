import { toError } from '../base/errors.ts';
import { MAX_CHANGES } from './bounds.ts';
import { giveAllBack, type GiveBack } from './lease.ts';
import type { SlotState, Units } from './ports.ts';
import type { SlotUpdate, UpdateOutcome } from './session.ts';

/** What goes into one commit of a slot. */

/** An update, and whoever waits for what becomes of it. */
export interface Wanted<Held, Change> {
  readonly update: SlotUpdate<Held, Change>;
  readonly resolve: (outcome: UpdateOutcome) => void;
  readonly reject: (error: Error) => void;
}

export interface Attempt<Held, Change> {
  readonly value: SlotState<Held>;
  readonly changes: readonly Change[];
  /** Those that are written with it. */
  readonly included: readonly Wanted<Held, Change>[];
}

export interface Composition<Held, Change> {
  /** Undefined: nothing is to be written. */
  readonly attempt: Attempt<Held, Change> | undefined;
  /** Those that are over without a write. */
  readonly settled: readonly Wanted<Held, Change>[];
}

export interface Occasion<Held, Change> {
  /** Above the number of every attempt before. */
  readonly attempt: number;
  /** The lease is to be renewed even if nothing else is to be written. */
  readonly isRenewal: boolean;
  /** Everything is to be given back once nothing else waits to be written. */
  readonly isReleasing: boolean;
  readonly now: number;
  readonly giveBack: GiveBack<Held, Change>;
}

/**
 * Makes one commit of everything that wants to be written, in its order, as far as its changes fit; settles what has become
 * moot. One claim a commit: two may depend on the same document, and then they would conflict with each other each time.
 * Does nothing else.
 */
export function compose<Held, Change>(
  { owner, epoch, units: before }: SlotState<Held>,
  wanted: readonly Wanted<Held, Change>[],
  { attempt, isRenewal, isReleasing, now, giveBack }: Occasion<Held, Change>,
): Composition<Held, Change> {
  let units: Units<Held> = before;
  const changes: Change[] = [];
  const included: Wanted<Held, Change>[] = [];
  const settled: Wanted<Held, Change>[] = [];
  for (const each of wanted) {
    if (changes.length >= MAX_CHANGES) break;
    if (each.update.isClaim && included.some(({ update }) => update.isClaim)) break;
    try {
      const edit = each.update.edit(units);
      if (edit && changes.length > 0 && changes.length + edit.changes.length > MAX_CHANGES) break;
      if (edit) {
        ({ units } = edit);
        changes.push(...edit.changes);
        included.push(each);
      } else {
        settled.push(each);
        each.resolve('moot');
      }
    } catch (error) {
      settled.push(each);
      each.reject(toError(error));
    }
  }
  if (included.length > 0 || (isRenewal && !isReleasing)) {
    return { attempt: { value: { owner, epoch, attempt, units }, changes, included }, settled };
  }
  if (!isReleasing) return { attempt: undefined, settled };
  const value = { owner: '', epoch, attempt, units: {} };
  return { attempt: { value, changes: giveAllBack(units, now, giveBack, 'released'), included }, settled };
}
