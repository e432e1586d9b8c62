/**
 * First in, first out, in constant time for each item however long the line is, where an array moves all of its items
 * whenever its first one leaves. A ring that doubles when it is full and halves when it is mostly empty. Pure.
 */
export class Queue<Item> {
  /** A power of two of places, so that an index wraps by a mask. */
  #places: (Item | undefined)[];
  #first = 0;
  #length = 0;

  constructor() {
    this.#places = new Array<Item | undefined>(MIN_PLACES);
  }

  get length(): number {
    return this.#length;
  }

  /** The next to leave; undefined when there is none. */
  get head(): Item | undefined {
    return this.#places[this.#first];
  }

  push(item: Item): void {
    if (this.#length === this.#places.length) this.#resize(this.#length * 2);
    this.#places[(this.#first + this.#length) & (this.#places.length - 1)] = item;
    this.#length += 1;
  }

  /** Puts the item before all others. */
  pushFirst(item: Item): void {
    if (this.#length === this.#places.length) this.#resize(this.#length * 2);
    this.#first = (this.#first - 1) & (this.#places.length - 1);
    this.#places[this.#first] = item;
    this.#length += 1;
  }

  /** Takes the longest in line out; undefined when there is none. */
  take(): Item | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#places[this.#first];
    this.#places[this.#first] = undefined;
    this.#first = (this.#first + 1) & (this.#places.length - 1);
    this.#length -= 1;
    if (this.#length * 4 < this.#places.length && this.#places.length > MIN_PLACES) {
      this.#resize(this.#places.length / 2);
    }
    return item;
  }

  /** Leaves out whoever is not wanted any more; the order of the others stays. Costs one step for each item. */
  keep(isWanted: (item: Item) => boolean): void {
    for (let left = this.#length; left > 0; left -= 1) {
      const item = this.take() as Item;
      if (isWanted(item)) this.push(item);
    }
  }

  #resize(size: number): void {
    const places = new Array<Item | undefined>(size);
    for (let at = 0; at < this.#length; at += 1) {
      places[at] = this.#places[(this.#first + at) & (this.#places.length - 1)];
    }
    this.#places = places;
    this.#first = 0;
  }
}

const MIN_PLACES = 16;
