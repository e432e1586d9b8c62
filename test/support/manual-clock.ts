import type { Clock } from '../../shared/base/clock.ts';

interface Timer {
  readonly dueAt: number;
  readonly callback: () => void;
}

/** Callbacks that one `advance` may run. A timer that sets itself again without delay would otherwise run forever. */
const MAX_CALLBACKS = 1_000_000;

/**
 * A clock that stands still until a test moves it. `advance` runs what is due in the order of its time, of equal times
 * in the order of its making, and lets every promise settle in between, as the event loop would.
 *
 * @example
 * const clock = new ManualClock();
 * const waiting = sleep(clock, 500, signal);
 * await clock.advance(500);
 * await waiting;
 * expect(clock.pending).toBe(0);
 */
export class ManualClock implements Clock {
  #now: number;
  readonly #startMillis: number;
  #isAdvancing = false;
  /** In order of making. */
  readonly #timers = new Set<Timer>();
  #soon: (() => void)[] = [];

  /** @param startMillis milliseconds since the epoch; by default a time that looks like one. */
  constructor(startMillis = Date.UTC(2026, 0, 1)) {
    this.#now = startMillis;
    this.#startMillis = startMillis;
  }

  /** Timers and `soon` callbacks that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers.size + this.#soon.length;
  }

  now(): number {
    return this.#now;
  }

  /** Goes with the time, from 0. */
  monotonic(): number {
    return this.#now - this.#startMillis;
  }

  after(delayMillis: number, callback: () => void): () => void {
    const timer = { dueAt: this.#now + Math.max(0, delayMillis), callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  soon(callback: () => void): void {
    this.#soon.push(callback);
  }

  /**
   * Moves time by `millis`, 0 included: then only `soon` callbacks and what is due already run. Timers that callbacks
   * set are run too when they are due by the end. Rejects with what a callback throws.
   */
  async advance(millis: number): Promise<void> {
    if (this.#isAdvancing) throw new Error('the clock is being advanced already: await the advance before');
    this.#isAdvancing = true;
    try {
      const end = this.#now + millis;
      await settle();
      for (let run = 0; ; run += 1) {
        if (run === MAX_CALLBACKS) throw new Error(`${MAX_CALLBACKS} callbacks ran in one advance of ${millis} ms`);
        const callback = this.#soon.shift() ?? this.#takeDue(end);
        if (callback === undefined) break;
        callback();
        await settle();
      }
      this.#now = end;
    } finally {
      this.#isAdvancing = false;
    }
  }

  /** Takes the next timer due by `end` and sets the time to its own. */
  #takeDue(end: number): (() => void) | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAt <= end && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
    }
    if (next === undefined) return undefined;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.dueAt);
    return next.callback;
  }
}

/** One turn of the real event loop: by then every promise that could settle has. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
