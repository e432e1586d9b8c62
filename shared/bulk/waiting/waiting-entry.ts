import type { RowEntry, SizedEntry } from '../../model/mutation.ts';
import type { Outcome, Trouble } from '../outcome.ts';

/** One admitted entry and the invocation that waits for it. Written by `settlement.ts` and by the batch that holds it. */
export class WaitingEntry implements SizedEntry {
  readonly entry: RowEntry;
  readonly bytes: number;
  /** All unsettled entries of its invocation. */
  readonly #siblings: Set<WaitingEntry>;
  readonly #onOutcome: (outcome: Outcome) => void;
  /** In a request, or between the requests that narrow a refusal down. */
  isHeld = false;
  /** Nobody waits for it any more: it is left out of whatever is sent next. */
  isAbandoned = false;
  isSettled = false;
  /** Why it is not decided yet. */
  trouble: Trouble | undefined;

  constructor(entry: RowEntry, bytes: number, siblings: Set<WaitingEntry>, onOutcome: (outcome: Outcome) => void) {
    this.entry = entry;
    this.bytes = bytes;
    this.#siblings = siblings;
    this.#onOutcome = onOutcome;
    siblings.add(this);
  }

  /** Tells the invocation, the first time only: an entry abandoned on the wire is answered to nobody. */
  resolve(outcome: Outcome): void {
    if (this.#siblings.delete(this)) this.#onOutcome(outcome);
  }
}
