import { type RowRange, sameEnd, sameStart } from '../../model/row-range.ts';
import { compareRanges, inOrder, meets } from './cover.ts';
import { requirePartitionRange, type Token } from './partition.ts';

/**
 * The tokens that have come for one target. They are complete when they tile it: each ends where the next begins. Ranges
 * that overlap are never complete, so two different tokens of one range are both kept, and a person sees them.
 *
 * A token costs three looks at neighbours at most, however many there are: with its left and its right one, and at the two
 * of them as they were before.
 */
export class Accumulator {
  readonly target: RowRange;
  readonly #isConnected: (left: RowRange, right: RowRange) => boolean;
  /** In order. */
  #tokens: Token[] = [];
  /** Pairs of neighbours of which the left one does not end where the right one begins. */
  #breaks = 0;

  /** @param tokens that have come before, in any order. */
  constructor(target: RowRange, tokens: readonly Token[] = [], isConnected = meets) {
    this.target = requirePartitionRange(target);
    this.#isConnected = isConnected;
    for (const token of inOrder(tokens, ({ range }) => range)) this.add(token);
  }

  get tokens(): readonly Token[] {
    return this.#tokens;
  }

  get isComplete(): boolean {
    const [first] = this.#tokens;
    const last = this.#tokens.at(-1);
    if (!first || !last || this.#breaks > 0) return false;
    return sameStart(first.range, this.target) && sameEnd(last.range, this.target);
  }

  /** False: the very same token is there already. */
  add(token: Token): boolean {
    requirePartitionRange(token.range);
    const place = this.#placeOf(token);
    const [left, right] = [this.#tokens[place - 1], this.#tokens[place]];
    if (right && compareTokens(right, token) === 0) return false;
    if (left && right) this.#breaks -= this.#breakBetween(left, right);
    if (left) this.#breaks += this.#breakBetween(left, token);
    if (right) this.#breaks += this.#breakBetween(token, right);
    this.#tokens.splice(place, 0, token);
    return true;
  }

  /** Where the first token stands that does not come before it. */
  #placeOf(token: Token): number {
    let [low, high] = [0, this.#tokens.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = this.#tokens[middle];
      if (at && compareTokens(at, token) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #breakBetween(left: Token, right: Token): 0 | 1 {
    return this.#isConnected(left.range, right.range) ? 0 : 1;
  }
}

/** By range, then by text. */
export const compareTokens = (left: Token, right: Token): number =>
  compareRanges(left.range, right.range) || (left.token < right.token ? -1 : left.token > right.token ? 1 : 0);
