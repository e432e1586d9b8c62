import { hash } from 'node:crypto';
import { MAX_RECORDS } from '../model/record.ts';

interface Remembered<Fact> {
  readonly digest: string;
  readonly fact: Fact;
}

/**
 * What this instance found out of records whose message is delivered again, so that the next delivery does not begin
 * from nothing. A record is known by its message, its place in that, and a digest of what it holds. Bounded: beyond
 * `maxFacts` the message that was remembered first is forgotten, whose next delivery then begins anew.
 */
export class MessageMemory<Fact> {
  readonly #maxFacts: number;
  readonly #messages = new Map<string, Map<number, Remembered<Fact>>>();
  #facts = 0;

  constructor(maxFacts: number) {
    this.#maxFacts = maxFacts;
  }

  /** Whether anything is known of the message: nothing is digested for one that is new, as nearly all are. */
  knows(messageId: string): boolean {
    return this.#messages.size > 0 && this.#messages.has(messageId);
  }

  remember(messageId: string, index: number, digest: string, fact: Fact): void {
    let known = this.#messages.get(messageId);
    if (!known) this.#messages.set(messageId, (known = new Map<number, Remembered<Fact>>()));
    if (!known.has(index)) this.#facts += 1;
    known.set(index, { digest, fact });
    for (const [oldest] of this.#messages) {
      if (this.#facts <= this.#maxFacts) return;
      this.forget(oldest);
    }
  }

  /** What was remembered of a record that held the same. */
  recall(messageId: string, index: number, digest: string): Fact | undefined {
    const known = this.#messages.get(messageId)?.get(index);
    return known?.digest === digest ? known.fact : undefined;
  }

  /** The message is decided. */
  forget(messageId: string): void {
    this.#facts -= this.#messages.get(messageId)?.size ?? 0;
    this.#messages.delete(messageId);
  }
}

/** A digest of what a record holds and where that goes. */
export const digestOf = (data: Buffer, destination: string): string => `${hash('sha256', data, 'hex')} ${destination}`;

/** So many records of undecided messages are remembered, which is all of the largest message: some 20 MB. */
export const MAX_REMEMBERED = MAX_RECORDS;
