import type { Clock } from '../../base/clock.ts';

/**
 * Notices when something that is waited for takes too long. One timer for all the waits of a stream: it looks how long
 * the wait under way lasts, so that a wait costs a look at the clock and no timer of its own.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #longestMillis: number;
  readonly #onLate: () => Promise<void>;
  /** By the monotonic clock; undefined while nothing is waited for. */
  #waitsSince: number | undefined;
  #cancel: (() => void) | undefined;
  #acting: Promise<void> | undefined;

  /** @param onLate called once, when a wait has lasted so long. */
  constructor(clock: Clock, longestMillis: number, onLate: () => Promise<void>) {
    this.#clock = clock;
    this.#longestMillis = longestMillis;
    this.#onLate = onLate;
  }

  get hasBarked(): boolean {
    return this.#acting !== undefined;
  }

  /** A wait begins. */
  start(): void {
    this.#waitsSince = this.#clock.monotonic();
    if (!this.#cancel && !this.#acting) this.#look(this.#longestMillis);
  }

  /** It is over. */
  pause(): void {
    this.#waitsSince = undefined;
  }

  /** Waits for what it has begun, and leaves no timer behind. */
  async stop(): Promise<void> {
    this.#waitsSince = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#acting;
  }

  #look(afterMillis: number): void {
    this.#cancel = this.#clock.after(afterMillis, () => {
      this.#cancel = undefined;
      const waited = this.#waitsSince === undefined ? 0 : this.#clock.monotonic() - this.#waitsSince;
      if (waited < this.#longestMillis) {
        this.#look(Math.ceil(this.#longestMillis - waited));
        return;
      }
      this.#acting = this.#onLate();
      // Awaited at the stop: until then its failure is nobody's.
      this.#acting.catch(() => undefined);
    });
  }
}
