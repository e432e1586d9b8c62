import { onAbort } from '../../base/abort.ts';
import { abortReason } from '../../base/clock.ts';
import { Line } from '../../base/line.ts';

export interface AdmissionLimits {
  readonly maxInFlightEntries: number;
  readonly maxInFlightBytes: number;
}

interface Waiter {
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * The instance's bound on what it holds. Admits while *below* the caps and never asks whether an entry would fit: an
 * entry above the byte cap is admitted alone, where a fits-test would wait forever. First in, first out; abortable.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #waiters = new Line<Waiter>();
  #entries = 0;
  #bytes = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get entries(): number {
    return this.#entries;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True while somebody waits: whatever accumulates should be sent rather than linger. */
  get isFull(): boolean {
    return this.#waiters.length > 0;
  }

  /** Admits the entry if it need not wait: the path of nearly every entry, without a promise. */
  tryAdmit(bytes: number): boolean {
    if (this.#waiters.length > 0 || !this.#isBelow()) return false;
    this.#take(bytes);
    return true;
  }

  /** Resolves when the entry is admitted; rejects with the signal's reason. {@link release} must follow exactly once. */
  admit(bytes: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(abortReason(signal));
    if (this.tryAdmit(bytes)) return Promise.resolve();
    return new Promise((resolve, reject) => {
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
  }

  release(bytes: number): void {
    this.#entries -= 1;
    this.#bytes -= bytes;
    this.#admitWaiting();
  }

  #admitWaiting(): void {
    while (this.#isBelow()) {
      const waiter = this.#waiters.take();
      if (!waiter) return;
      this.#take(waiter.bytes);
      waiter.admit();
    }
  }

  #isBelow(): boolean {
    return this.#entries < this.#limits.maxInFlightEntries && this.#bytes < this.#limits.maxInFlightBytes;
  }

  #take(bytes: number): void {
    this.#entries += 1;
    this.#bytes += bytes;
  }
}
