/** Writes of one slot's document that may follow one another at once; then one a second, which a document of Firestore takes. */
const BURST = 5;
const INTERVAL_MILLIS = 1_000;

/**
 * How fast a slot writes its document where units end by the hundred: those that end in between go with the next write. A
 * slot whose units take longer never waits. Times are of a monotonic clock.
 */
export class WritePace {
  /** Writes that may be made now, as of `#at`. */
  #credit = BURST;
  #at = -Infinity;

  /** Milliseconds until a write may be made. */
  pauseMillis(now: number): number {
    this.#refill(now);
    return this.#credit >= 1 ? 0 : Math.ceil((1 - this.#credit) * INTERVAL_MILLIS);
  }

  wrote(now: number): void {
    this.#refill(now);
    this.#credit = Math.max(0, this.#credit - 1);
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#at);
    this.#credit = Math.min(BURST, this.#credit + elapsed / INTERVAL_MILLIS);
    this.#at = now;
  }
}
