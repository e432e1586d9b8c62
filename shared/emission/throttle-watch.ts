import type { Runtime } from '../base/runtime.ts';

/** Counts the time in which anything waits because the service asked for less; what waits together counts once. */
export class ThrottleWatch {
  readonly #runtime: Runtime;
  #waiting = 0;
  #since = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  begin(): void {
    if (this.#waiting === 0) this.#since = this.#runtime.clock.now();
    this.#waiting += 1;
  }

  end(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    const { clock, metrics } = this.#runtime;
    metrics.count('throttledTime', clock.now() - this.#since);
  }
}
