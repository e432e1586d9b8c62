import { CoalescedSize } from './coalesce.ts';
import { Effect } from './effect.ts';
import type { Envelope } from './envelope.ts';

/**
 * The waiting room of one row. Pure bookkeeping. At most one request of a row is in flight; what arrives meanwhile goes
 * out together in the next one, so a hot row costs requests, not envelopes.
 */
export class RowLane {
  readonly key: string;
  readonly #effects = new Map<string, Effect>();
  #waiting: Effect[] = [];

  constructor(key: string) {
    this.key = key;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Waiting, or in the request that is out. */
  undecided(): readonly Effect[] {
    return [...this.#effects.values()];
  }

  /** The effect of this identity that is on its way already, or a new one at the end of the row. */
  join(envelope: Envelope): Effect {
    const known = this.#effects.get(envelope.identity);
    if (known) return known;
    const effect = new Effect(envelope);
    this.#effects.set(envelope.identity, effect);
    this.#waiting.push(effect);
    return effect;
  }

  /** Takes what goes out next: the first that are wanted, as many as fit in one request. May be nothing. */
  take(): readonly Effect[] {
    const size = new CoalescedSize();
    const group: Effect[] = [];
    let at = 0;
    for (; at < this.#waiting.length; at += 1) {
      const effect = this.#waiting[at] as Effect;
      if (!effect.isWanted) this.done(effect);
      else if (size.tryAdd(effect.envelope)) group.push(effect);
      else break;
    }
    this.#waiting = this.#waiting.slice(at);
    return group;
  }

  /** The effect is decided, or nobody wants it any more: its identity may come again as a new one. */
  done({ envelope }: Effect): void {
    this.#effects.delete(envelope.identity);
  }
}
