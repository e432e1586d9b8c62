import { abortReason } from './clock.ts';

/**
 * Permits with a first-in first-out queue. A freed permit goes to the longest waiter, so nobody starves and a permit
 * is never both free and waited for. A waiter whose signal aborts leaves the queue.
 */
export class Semaphore {
  #free: number;
  readonly #waiters: (() => void)[] = [];

  /** @param permits how many may hold at once; at least 1. */
  constructor(permits: number) {
    this.#free = permits;
  }

  /**
   * Waits for a permit and resolves with its release, which must be called exactly once.
   *
   * @param signal ends the wait. Without one it ends with the permit: thousands that wait beside each other had better
   * share no signal, which compares a new listener with all it has.
   */
  acquire(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    const release = this.tryAcquire();
    if (release) return Promise.resolve(release);
    if (!signal)
      return new Promise((resolve) =>
        this.#waiters.push(() => {
          resolve(this.#release());
        }),
      );
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve(this.#release());
      };
      const onAbort = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(grant), 1);
        reject(abortReason(signal));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(grant);
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
      const next = this.#waiters.shift();
      if (next) next();
      else this.#free += 1;
    };
  }
}
