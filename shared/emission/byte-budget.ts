import { onAbort } from '../base/abort.ts';
import { abortReason } from '../base/clock.ts';
import { Line } from '../base/line.ts';

interface Waiter {
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * The bytes of all messages on their way. Admits while *below* the cap and never asks whether a message would fit: one
 * above the cap is admitted alone, where a fits-test would wait forever. First in, first out; abortable.
 */
export class ByteBudget {
  readonly #maxBytes: number;
  readonly #onWait: () => void;
  readonly #waiters = new Line<Waiter>();
  #bytes = 0;

  /** @param onWait called when somebody begins to wait: whatever gathers should be sent. */
  constructor(maxBytes: number, onWait: () => void) {
    this.#maxBytes = maxBytes;
    this.#onWait = onWait;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes the bytes if there is nothing to wait for: the path of nearly every message, without a promise. */
  tryTake(bytes: number): boolean {
    if (this.#waiters.length > 0 || this.#bytes >= this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Resolves when the bytes are taken; rejects with the signal's reason. {@link give} must follow exactly once. */
  take(bytes: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(abortReason(signal));
    if (this.tryTake(bytes)) return Promise.resolve();
    const taken = new Promise<void>((resolve, reject) => {
      const leave = this.#waiters.join({
        bytes,
        admit: () => {
          forget();
          resolve();
        },
      });
      const forget = onAbort(signal, () => {
        leave();
        reject(abortReason(signal));
        // The one that left may have been all that kept the ones behind it.
        this.#admitWaiting();
      });
    });
    this.#onWait();
    return taken;
  }

  /** Gives taken bytes back. */
  give(bytes: number): void {
    this.#bytes -= bytes;
    this.#admitWaiting();
  }

  #admitWaiting(): void {
    while (this.#bytes < this.#maxBytes) {
      const waiter = this.#waiters.take();
      if (!waiter) return;
      this.#bytes += waiter.bytes;
      waiter.admit();
    }
  }
}
