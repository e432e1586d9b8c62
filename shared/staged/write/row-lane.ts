import { Effect } from './batch.ts';
import { CoalescedSize } from './coalesce.ts';
import type { Envelope } from '../envelope/envelope.ts';

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
  join(envelope: Envelope): Effect {
    const { identity } = envelope;
    const known = this.#first?.envelope.identity === identity ? this.#first : this.#others?.get(identity);
    if (known) return known;
    const effect = new Effect(envelope);
    if (this.#first) (this.#others ??= new Map()).set(identity, effect);
    else this.#first = effect;
    // The first array is as small as it can be: most rows never have a second effect.
    if (this.#waiting.length === 0) this.#waiting = [effect];
    else this.#waiting.push(effect);
    return effect;
  }

  /** Takes what goes out next: the first that are wanted, as many as fit in one request. May be nothing. */
  take(): readonly Effect[] {
    const waiting = this.#waiting;
    if (waiting.length === 1 && waiting[0]?.isWanted === true) {
      this.#waiting = NONE;
      return waiting;
    }
    const size = new CoalescedSize();
    const group: Effect[] = [];
    let at = 0;
    for (; at < waiting.length; at += 1) {
      const effect = waiting[at] as Effect;
      if (!effect.isWanted) this.done(effect);
      else if (size.tryAdd(effect.envelope)) group.push(effect);
      else break;
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
