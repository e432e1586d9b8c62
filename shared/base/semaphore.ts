import { onAbort } from './abort.ts';
import { abortReason } from './clock.ts';
import { Line } from './line.ts';

/**
 * Permits with a first-in first-out queue. A freed permit goes to the longest waiter, so nobody starves and a permit
 * is never both free and waited for. A waiter whose signal aborts leaves the queue. Each step takes constant time,
 * however many wait, and all who share a signal share one listener of it.
 */
export class Semaphore {
  #free: number;
  readonly #waiters = new Line<() => void>();

  /** @param permits how many may hold at once; at least 1. */
  constructor(permits: number) {
    this.#free = permits;
  }

  /**
   * Waits for a permit and resolves with its release, which must be called exactly once.
   *
   * @param signal ends the wait. Without one it ends with the permit.
   */
  acquire(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    const release = this.tryAcquire();
    if (release) return Promise.resolve(release);
    return new Promise((resolve, reject) => {
      const leave = this.#waiters.join(() => {
        forget?.();
        resolve(this.#release());
      });
      const forget =
        signal &&
        onAbort(signal, () => {
          leave();
          reject(abortReason(signal));
        });
    });
  }

  /** The release of a permit that is free now; undefined when none is. */
  tryAcquire(): (() => void) | undefined {
    if (this.#free === 0) return undefined;
    this.#free -= 1;
    return this.#release();
  }

  #release(): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const grant = this.#waiters.take();
      if (grant) grant();
      else this.#free += 1;
    };
  }
}
