import type { Clock } from '../../../shared/base/clock.ts';
import type { Random } from '../../../shared/base/random.ts';

/**
 * One process of the simulated cloud: a function instance that can be killed between any two of its steps. What a dead
 * process awaits never comes back, and its timers never fire: its code simply stops there, as with SIGKILL.
 */
export class SimulatedProcess {
  readonly clock: Clock;
  readonly #world: Clock;
  readonly #random: Random;
  /** Called with the life of every remote call, to let a schedule kill the process there. */
  readonly #onCall: (process: SimulatedProcess) => void;
  #isAlive = true;

  /** @param skewMillis how far the process's clock is from the world's. */
  constructor(world: Clock, random: Random, skewMillis: number, onCall: (process: SimulatedProcess) => void) {
    this.#world = world;
    this.#random = random;
    this.#onCall = onCall;
    this.clock = {
      now: () => world.now() + skewMillis,
      monotonic: () => world.monotonic(),
      after: (delayMillis, callback) =>
        world.after(delayMillis, () => {
          if (this.#isAlive) callback();
        }),
      soon: (callback) => {
        world.soon(() => {
          if (this.#isAlive) callback();
        });
      },
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  kill(): void {
    this.#isAlive = false;
  }

  /**
   * One call over the network, with a delay each way. The process may die before the call arrives (it then happens or
   * does not), or after it happened and before its answer is back.
   */
  call<Result>(effect: () => Promise<Result> | Result): Promise<Result> {
    this.#onCall(this);
    return new Promise((resolve, reject) => {
      if (!this.#isAlive) return;
      this.#world.after(this.#delay(), () => {
        // A request that is on the wire arrives, or does not, whether or not its sender still lives.
        if (!this.#isAlive && this.#random() < 0.5) return;
        const settle = (then: () => void): void => {
          this.#world.after(this.#delay(), () => {
            if (this.#isAlive) then();
          });
        };
        Promise.resolve()
          .then(effect)
          .then(
            (result) => {
              this.#onCall(this);
              settle(() => {
                resolve(result);
              });
            },
            (error: unknown) => {
              settle(() => {
                reject(error instanceof Error ? error : new Error(String(error)));
              });
            },
          );
      });
    });
  }

  #delay(): number {
    return 1 + Math.floor(this.#random() * 30);
  }
}
