import type { Clock } from '../../../../../shared/base/clock.ts';

/** The time of commits, in microseconds since the epoch: the clock's, but no two commits have the same. */
export class CommitClock {
  readonly #clock: Clock;
  #lastMicros = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A time after every commit so far. */
  next(): bigint {
    const now = this.#nowMicros();
    return now > this.#lastMicros ? now : this.#lastMicros + 1n;
  }

  /** A commit has happened at this time. */
  passed(micros: bigint): void {
    this.#lastMicros = micros;
  }

  /** The time of what is read now: every commit so far is at or before it. */
  read(): bigint {
    const now = this.#nowMicros();
    return now > this.#lastMicros ? now : this.#lastMicros;
  }

  #nowMicros(): bigint {
    return BigInt(Math.trunc(this.#clock.now())) * 1000n;
  }
}
