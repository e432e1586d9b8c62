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
  /** While it is frozen nothing of it runs, and its monotonic clock stands still. */
  #thawsAt = 0;
  #frozenMillis = 0;
  /** Called once, when it dies. */
  onDeath: () => void = () => undefined;

  /** @param skewMillis how far the process's clock is from the world's. */
  constructor(world: Clock, random: Random, skewMillis: number, onCall: (process: SimulatedProcess) => void) {
    this.#world = world;
    this.#random = random;
    this.#onCall = onCall;
    this.clock = {
      now: () => world.now() + skewMillis,
      monotonic: () => world.monotonic() - this.#frozenMillis,
      after: (delayMillis, callback) => {
        let cancelThaw = (): void => undefined;
        const cancel = world.after(delayMillis, () => {
          cancelThaw = this.#onceAwake(callback);
        });
        return () => {
          cancel();
          cancelThaw();
        };
      },
      soon: (callback) => {
        world.soon(() => {
          this.#onceAwake(callback);
        });
      },
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isFrozen(): boolean {
    return this.#world.now() < this.#thawsAt;
  }

  kill(): void {
    this.#isAlive = false;
    this.onDeath();
  }

  /** The platform takes its CPU for a while, and gives it back as if nothing had been. */
  freeze(millis: number): void {
    this.#thawsAt = this.#world.now() + millis;
    this.#frozenMillis += millis;
  }

  /** Runs at once, or when it is thawed; never when it is dead. The returned function takes it back. */
  #onceAwake(callback: () => void): () => void {
    if (!this.#isAlive) return () => undefined;
    if (!this.isFrozen) {
      callback();
      return () => undefined;
    }
    let cancel = (): void => undefined;
    cancel = this.#world.after(this.#thawsAt - this.#world.now(), () => {
      cancel = this.#onceAwake(callback);
    });
    return () => {
      cancel();
    };
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
            this.#onceAwake(then);
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
