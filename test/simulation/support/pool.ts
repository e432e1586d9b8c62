import type { Clock } from '../../../shared/base/clock.ts';
import type { Random } from '../../../shared/base/random.ts';
import { SimulatedProcess } from './process.ts';

/** A process and what it was started with. */
export interface Instance<Body> {
  readonly process: SimulatedProcess;
  readonly body: Body;
}

export interface PoolOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly size: number;
  /** Clocks of processes are wrong by up to so much, either way. */
  readonly skewMillis: number;
  /** Asked at every remote call, before and after its effect. */
  readonly shallDie: () => boolean;
}

/** The instances of one function: what dies is replaced after a while, with nothing of its memory. */
export class Pool<Body> {
  deaths = 0;
  readonly #options: PoolOptions;
  readonly #start: (process: SimulatedProcess) => Body;
  readonly #instances: (Instance<Body> | undefined)[];
  /** No instance starts before. */
  #closedUntil = -Infinity;

  constructor(options: PoolOptions, start: (process: SimulatedProcess) => Body) {
    this.#options = options;
    this.#start = start;
    this.#instances = Array.from({ length: options.size }, () => undefined);
    for (let place = 0; place < options.size; place += 1) this.#fill(place);
  }

  /** Some instance; undefined when the one that was picked is being replaced. */
  pick(): Instance<Body> | undefined {
    return this.#instances[Math.floor(this.#options.random() * this.#instances.length)];
  }

  /** Somebody stops all instances, and lets new ones start after a while. */
  restart(pauseMillis: number): void {
    const { clock } = this.#options;
    this.#closedUntil = clock.now() + pauseMillis;
    for (const [place, instance] of this.#instances.entries()) {
      if (!instance) continue;
      instance.process.kill();
      this.#instances[place] = undefined;
      this.#fill(place);
    }
  }

  #fill(place: number): void {
    const wait = this.#closedUntil - this.#options.clock.now();
    if (wait > 0) {
      this.#options.clock.after(wait, () => {
        this.#fill(place);
      });
      return;
    }
    const { clock, random, skewMillis, shallDie } = this.#options;
    const skew = Math.round((random() * 2 - 1) * skewMillis);
    const process = new SimulatedProcess(clock, random, skew, (one) => {
      if (!one.isAlive || !shallDie()) return;
      one.kill();
      this.deaths += 1;
      this.#instances[place] = undefined;
      clock.after(500 + random() * 3000, () => {
        this.#fill(place);
      });
    });
    this.#instances[place] = { process, body: this.#start(process) };
  }
}

/** A port as a process reaches it: every call goes over the network. */
export const remote = <Port extends object>(process: SimulatedProcess, port: Port): Port =>
  Object.fromEntries(
    Object.entries(port).map(([name, method]) => [
      name,
      (...given: readonly unknown[]) =>
        process.call(() => (method as (...given: readonly unknown[]) => unknown)(...given)),
    ]),
  ) as Port;
