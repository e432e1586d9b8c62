import type { Runtime } from '../../base/runtime.ts';

/** Silence this long with entries in flight is worth a warning, and again after as long. */
const STALL_MILLIS = 60_000;

/**
 * Warns when Bigtable says nothing while entries wait. A failure is an answer, a deadline of ours is not. The wait
 * itself is bounded by the invocations' deadlines, not here: minutes in which no counter moves are what this is for.
 */
export class StallWatch {
  readonly #runtime: Runtime;
  readonly #held: () => { readonly entries: number; readonly tables: number };
  #lastHeard = 0;
  #cancel: (() => void) | undefined;

  /** @param held what waits, for the warning. */
  constructor(runtime: Runtime, held: () => { readonly entries: number; readonly tables: number }) {
    this.#runtime = runtime;
    this.#held = held;
  }

  /** Something is in flight. Starts the watch if it rests. */
  watch(): void {
    if (this.#cancel) return;
    this.heard();
    this.#arm(STALL_MILLIS);
  }

  heard(): void {
    this.#lastHeard = this.#runtime.clock.now();
  }

  /** Nothing is in flight any more. */
  rest(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(delayMillis: number): void {
    this.#cancel = this.#runtime.clock.after(delayMillis, () => {
      const silentMillis = this.#runtime.clock.now() - this.#lastHeard;
      if (silentMillis >= STALL_MILLIS) this.#warn(silentMillis);
      this.#arm(silentMillis >= STALL_MILLIS ? STALL_MILLIS : STALL_MILLIS - silentMillis);
    });
  }

  #warn(silentMillis: number): void {
    this.#runtime.metrics.count('stalls');
    this.#runtime.logger.log(
      'WARNING',
      `MutateRows: no answer for ${Math.round(silentMillis / 1000)} s. The sink waits rather than fails; each message is redelivered at its own deadline. Watch recordsApplied; look at the Bigtable instance's CPU and errors.`,
      { ...this.#held(), silentMillis },
    );
  }
}
