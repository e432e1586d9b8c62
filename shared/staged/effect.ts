import { abortReason } from '../base/clock.ts';
import type { Envelope } from './envelope.ts';
import { outOfTime, repeated, type Unfinished, type WriteResult } from './write-result.ts';

/** One invocation that waits for one effect. */
interface Waiter {
  readonly effect: Effect;
  readonly invocation: Set<Waiter>;
  readonly resolve: (result: WriteResult) => void;
}

/** An envelope on its way into its row, and everybody who waits for it: a copy of it is not sent beside it. */
export class Effect {
  readonly envelope: Envelope;
  readonly #waiters = new Set<Waiter>();
  /** Why it is not decided yet: told to whoever runs out of time before it is. */
  trouble: Unfinished | undefined;

  constructor(envelope: Envelope) {
    this.envelope = envelope;
  }

  /** False once every invocation that waited has ended. */
  get isWanted(): boolean {
    return this.#waiters.size > 0;
  }

  add(waiter: Waiter): void {
    this.#waiters.add(waiter);
  }

  leave(waiter: Waiter): void {
    this.#waiters.delete(waiter);
  }

  /** Tells everybody, and how many were told. The first to have come is told the result, the others that it was repeated. */
  settle(result: WriteResult): number {
    let told = 0;
    for (const waiter of this.#waiters) {
      waiter.invocation.delete(waiter);
      waiter.resolve(told === 0 ? result : repeated(result));
      told += 1;
    }
    this.#waiters.clear();
    return told;
  }
}

/** The waits of each invocation, all of which end when its signal aborts. */
export class Invocations {
  readonly #waiting = new WeakMap<AbortSignal, Set<Waiter>>();

  /** Resolves with what becomes of the effect, or when the signal aborts, whichever is first. */
  wait(effect: Effect, signal: AbortSignal): Promise<WriteResult> {
    const invocation = this.#invocationOf(signal);
    return new Promise((resolve) => {
      const waiter = { effect, invocation, resolve };
      invocation.add(waiter);
      effect.add(waiter);
    });
  }

  /** One listener for all waits: an event target compares a new listener with every one it has. */
  #invocationOf(signal: AbortSignal): Set<Waiter> {
    const known = this.#waiting.get(signal);
    if (known) return known;
    const invocation = new Set<Waiter>();
    this.#waiting.set(signal, invocation);
    const onAbort = (): void => {
      for (const waiter of invocation) {
        waiter.effect.leave(waiter);
        waiter.resolve(outOfTime(abortReason(signal), waiter.effect.trouble));
      }
      invocation.clear();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return invocation;
  }
}
