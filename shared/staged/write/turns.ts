import { Queue } from '../../base/queue.ts';

/**
 * Places on the wire, first come first served. Whoever waits stays in line, without a signal: a place is held no longer
 * than one attempt, thousands of rows may be in line at once, and an event target looks through all of its listeners
 * whenever one is added.
 */
export class Turns {
  #free: number;
  readonly #line = new Queue<() => void>();

  /** @param places at least 1. */
  constructor(places: number) {
    this.#free = places;
  }

  /** Waits for a place, which must be given back exactly once. Nothing to wait for: undefined. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve) => {
      this.#line.push(resolve);
    });
  }

  /** The place goes to whoever waited longest. */
  giveBack(): void {
    const next = this.#line.take();
    if (next) next();
    else this.#free += 1;
  }
}
