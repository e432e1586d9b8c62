import { abortReason } from '../../base/clock.ts';
import { RedeliverError, toError } from '../../base/errors.ts';

/**
 * The envelopes of one message on their way into the store: the message may be acknowledged when the last of them is
 * there. Settles exactly once, at the latest when its invocation ends.
 */
export class Delivery {
  /** Resolves when every envelope is stored; rejects with a `RedeliverError`. */
  readonly done: Promise<void>;
  /** Why it takes so long: told if the time runs out. */
  trouble: Error | undefined;
  readonly #signal: AbortSignal;
  readonly #resolve: () => void;
  readonly #reject: (reason: RedeliverError) => void;
  readonly #leavers = new Set<() => void>();
  #missing: number;
  #isSettled = false;

  /** @param envelopes how many, at least 1. */
  constructor(envelopes: number, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    this.done = promise.then(() => undefined);
    this.#resolve = () => {
      resolve(undefined);
    };
    this.#reject = reject;
    this.#missing = envelopes;
    this.#signal = signal;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Whether somebody still waits for it. An envelope that nobody waits for need not be stored: its message is redelivered. */
  get isWanted(): boolean {
    return !this.#isSettled;
  }

  /** Calls back when nobody waits any longer, whatever the reason. */
  onSettled(callback: () => void): void {
    if (this.#isSettled) callback();
    else this.#leavers.add(callback);
  }

  stored(): void {
    this.#missing -= 1;
    if (this.#missing === 0) this.#settle(this.#resolve);
  }

  fail(error: RedeliverError): void {
    this.#settle(() => {
      this.#reject(error);
    });
  }

  readonly #onAbort = (): void => {
    const { message } = abortReason(this.#signal);
    const { trouble } = this;
    this.fail(
      trouble
        ? new RedeliverError('transient', `${message}; ${trouble.message}`, { cause: trouble })
        : new RedeliverError('deadline', message),
    );
  };

  #settle(tell: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    tell();
    for (const leave of this.#leavers) leave();
    this.#leavers.clear();
  }
}

/** What a message is told whose envelopes the store refused. */
export function refusedByStore(error: unknown): RedeliverError {
  if (error instanceof RedeliverError) return error;
  const cause = toError(error);
  return new RedeliverError('staging', `the records could not be staged: ${cause.message}`, { cause });
}
