import type { Clock } from '../../base/clock.ts';
import { RedeliverError } from '../../base/errors.ts';

/** What is decided is stored even when the invocation's own time is used up: within the margin it has to answer in. */
const ENDING_MILLIS = 5000;

/** The time of an invocation, and a little more for what it has to store at its end. */
export class Ending {
  /** The invocation's own. */
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #storing = new AbortController();
  #cancel: (() => void) | undefined;
  readonly #onAbort = (): void => {
    this.#cancel = this.#clock.after(ENDING_MILLIS, () => {
      this.#storing.abort(
        new RedeliverError(
          'transient',
          `Firestore did not answer within ${ENDING_MILLIS} ms what the work came to; it is told again at the next delivery, and no effect counts twice`,
        ),
      );
    });
  };

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.signal = signal;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** For commits of what is decided: aborts a little after the invocation's own. */
  get storing(): AbortSignal {
    return this.#storing.signal;
  }

  /** Leaves no timer and no listener behind. */
  close(): void {
    this.signal.removeEventListener('abort', this.#onAbort);
    this.#cancel?.();
  }
}
