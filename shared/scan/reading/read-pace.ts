import { sleep, type Clock } from '../../base/clock.ts';

export interface ReadPaceOptions {
  /** Rows a second, of all reads that share the pace. Absent: as fast as they come. */
  readonly maxRowsPerSecond?: number;
  /** Bytes a second, by the estimate of a row's size. Absent: as fast as they come. */
  readonly maxBytesPerSecond?: number;
  /** Told of every wait that it made. */
  readonly onWaited?: (millis: number) => void;
}

/**
 * How fast the reads of one slot may go together, so that they leave a serving cluster its room. What was read is paid
 * for before more is asked for: one message may go beyond the rate, and the wait after it is that much longer. Time in
 * which nothing was read is not saved up.
 */
export class ReadPace {
  readonly #millisPerRow: number;
  readonly #millisPerByte: number;
  readonly #onWaited: ((millis: number) => void) | undefined;
  readonly #clock: Clock;
  #freeAt = 0;

  constructor({ maxRowsPerSecond, maxBytesPerSecond, onWaited }: ReadPaceOptions, clock: Clock) {
    this.#millisPerRow = maxRowsPerSecond === undefined ? 0 : 1000 / maxRowsPerSecond;
    this.#millisPerByte = maxBytesPerSecond === undefined ? 0 : 1000 / maxBytesPerSecond;
    this.#onWaited = onWaited;
    this.#clock = clock;
  }

  /** Waits until everything that was read is paid for. */
  async turn(signal: AbortSignal): Promise<void> {
    const startedAt = this.#clock.now();
    // What others read meanwhile is to be paid for too.
    for (let millis = this.#freeAt - startedAt; millis >= 1; millis = this.#freeAt - this.#clock.now()) {
      await sleep(this.#clock, millis, signal);
    }
    const waited = this.#clock.now() - startedAt;
    if (waited > 0) this.#onWaited?.(waited);
  }

  /** So much was read. */
  spend(rows: number, bytes: number): void {
    const millis = Math.max(rows * this.#millisPerRow, bytes * this.#millisPerByte);
    if (millis > 0) this.#freeAt = Math.max(this.#freeAt, this.#clock.now()) + millis;
  }
}
