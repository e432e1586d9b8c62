/** A bound that fell rises again after this long, to its double each time. */
const RISE_MILLIS = 60_000;

/**
 * How many envelopes a request may hold: the configured number, halved whenever a request of about that many took long,
 * and doubled again every minute in which none did. Pure; times in milliseconds.
 */
export class EnvelopeBound {
  readonly #max: number;
  readonly #slowMillis: number;
  #bound: number;
  #changedAt = 0;

  /** @param slowMillis a request that takes at least as long took long. */
  constructor(max: number, slowMillis: number) {
    this.#max = max;
    this.#slowMillis = slowMillis;
    this.#bound = max;
  }

  at(now: number): number {
    if (this.#bound === this.#max) return this.#max;
    const rises = Math.floor((now - this.#changedAt) / RISE_MILLIS);
    if (rises > 0) {
      this.#bound = Math.min(this.#max, this.#bound * 2 ** rises);
      this.#changedAt += rises * RISE_MILLIS;
    }
    return this.#bound;
  }

  /**
   * A request has ended. One that was made under a higher bound says nothing of this one, and one of few envelopes is not
   * slow because of them.
   */
  ended(envelopes: number, tookMillis: number, now: number): void {
    if (tookMillis < this.#slowMillis || envelopes === 1) return;
    const bound = this.at(now);
    if (envelopes > bound || envelopes * 2 < bound) return;
    this.#bound = Math.ceil(envelopes / 2);
    this.#changedAt = now;
  }
}
