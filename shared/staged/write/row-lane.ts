import { type Outcome, repeated, type Unfinished } from '../../markers/outcome.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { CoalescedSize } from './coalesce.ts';

/**
 * The waiting room of one row. Pure bookkeeping. At most one request of a row is in flight; what arrives meanwhile goes
 * out together in the next one, so a hot row costs requests, not envelopes.
 */
export class RowLane {
  readonly key: string;
  /** The effect that came first, and those that came while it was undecided: most rows never have a second one. */
  #first: Effect | undefined;
  #others: Map<string, Effect> | undefined;
  #waiting: Effect[] = NONE;

  constructor(key: string) {
    this.key = key;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Waiting, or in the request that is out. */
  undecided(): readonly Effect[] {
    return [...(this.#first ? [this.#first] : []), ...(this.#others?.values() ?? [])];
  }

  /** The effect of this identity that is on its way already, or a new one at the end of the row. */
  join(envelope: Envelope, isSuspect: boolean): Effect {
    const { identity } = envelope;
    const known = this.#first?.envelope.identity === identity ? this.#first : this.#others?.get(identity);
    if (known) return known;
    const effect = new Effect(envelope, isSuspect);
    if (this.#first) (this.#others ??= new Map()).set(identity, effect);
    else this.#first = effect;
    // The first array is as small as it can be: most rows never have a second effect.
    if (this.#waiting.length === 0) this.#waiting = [effect];
    else this.#waiting.push(effect);
    return effect;
  }

  /**
   * Takes what goes out next: the first that are wanted, as many as fit in one request, or one suspect alone. May be
   * nothing.
   */
  take(maxEnvelopes: number): readonly Effect[] {
    const waiting = this.#waiting;
    if (waiting.length === 1 && waiting[0]?.isWanted === true) {
      this.#waiting = NONE;
      return waiting;
    }
    const size = new CoalescedSize(maxEnvelopes);
    const group: Effect[] = [];
    let at = 0;
    for (; at < waiting.length; at += 1) {
      const effect = waiting[at] as Effect;
      if (!effect.isWanted) {
        this.done(effect);
        continue;
      }
      const isMixed = group.length > 0 && (effect.isSuspect || group[0]?.isSuspect === true);
      if (isMixed || !size.tryAdd(effect.envelope)) break;
      group.push(effect);
    }
    this.#waiting = waiting.slice(at);
    return group;
  }

  /** The effect is decided, or nobody wants it any more: its identity may be submitted again as a new one. */
  done(effect: Effect): void {
    const { identity } = effect.envelope;
    if (this.#first === effect) this.#first = undefined;
    else if (this.#others?.get(identity) === effect) this.#others.delete(identity);
  }
}

/** Never added to. */
const NONE: Effect[] = [];

/** One envelope of a batch that waits for an effect. */
interface Waiter {
  readonly batch: Batch;
  readonly index: number;
}

/** An envelope on its way into its row, and everybody who waits for it: a copy of it is not sent beside it. */
export class Effect {
  readonly envelope: Envelope;
  /** It was refused before, so that it would have to be told apart again: it goes alone. */
  readonly isSuspect: boolean;
  /** In the order they came. Nearly always one, of thousands of effects: an array that is made anew stays small. */
  #waiters: readonly Waiter[] = NOBODY;
  /** Why it is not decided yet: told to whoever runs out of time before it is. */
  trouble: Unfinished | undefined;

  constructor(envelope: Envelope, isSuspect: boolean) {
    this.envelope = envelope;
    this.isSuspect = isSuspect;
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
