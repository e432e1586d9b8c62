import type { Envelope } from '../envelope/envelope.ts';
import type { Unfinished, Outcome } from '../../markers/outcome.ts';
import { repeated } from '../../markers/outcome.ts';

/** One envelope of a batch that waits for an effect. */
interface Waiter {
  readonly batch: Batch;
  readonly index: number;
}

/** An envelope on its way into its row, and everybody who waits for it: a copy of it is not sent beside it. */
export class Effect {
  readonly envelope: Envelope;
  /** In the order they came. Nearly always one, of thousands of effects: an array that is made anew stays small. */
  #waiters: readonly Waiter[] = NOBODY;
  /** Why it is not decided yet: told to whoever runs out of time before it is. */
  trouble: Unfinished | undefined;

  constructor(envelope: Envelope) {
    this.envelope = envelope;
  }

  /** False once every batch that waited has been given up. */
  get isWanted(): boolean {
    return this.#waiters.length > 0;
  }

  add(waiter: Waiter): void {
    this.#waiters = this.#waiters.length === 0 ? [waiter] : [...this.#waiters, waiter];
  }

  leave(batch: Batch): void {
    this.#waiters = this.#waiters.filter((waiter) => waiter.batch !== batch);
  }

  /** Tells everybody, and how many were told. The first to have come is told the result, the others that it was repeated. */
  settle(result: Outcome): number {
    const waiters = this.#waiters;
    this.#waiters = NOBODY;
    for (const [at, { batch, index }] of waiters.entries()) batch.decide(index, at === 0 ? result : repeated(result));
    return waiters.length;
  }
}

const NOBODY: readonly Waiter[] = [];

/**
 * Envelopes that one caller waits for together. One promise for all of them: there may be thousands, and a promise of
 * each would cost the collector as much as its request.
 */
export class Batch {
  readonly #effects: Effect[] = [];
  readonly #results: (Outcome | undefined)[] = [];
  readonly #decided = Promise.withResolvers<readonly Outcome[]>();
  #undecided = 0;

  /** Resolves with one result for each effect that waits, in order, when the last of them is there; never rejects. */
  get decided(): Promise<readonly Outcome[]> {
    return this.#decided.promise;
  }

  wait(effect: Effect): void {
    effect.add({ batch: this, index: this.#effects.length });
    this.#effects.push(effect);
    this.#results.push(undefined);
    this.#undecided += 1;
  }

  decide(index: number, result: Outcome): void {
    if (this.#results[index] !== undefined) return;
    this.#results[index] = result;
    this.#undecided -= 1;
    if (this.#undecided === 0) this.#decided.resolve(this.#results as readonly Outcome[]);
  }

  /** Waits no longer: what is not decided yet ends as `resultOf` says. */
  giveUp(resultOf: (trouble: Unfinished | undefined) => Outcome): void {
    for (const [index, effect] of this.#effects.entries()) {
      if (this.#results[index] !== undefined) continue;
      effect.leave(this);
      this.decide(index, resultOf(effect.trouble));
    }
  }
}
