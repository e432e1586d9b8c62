/** A first-in first-out queue whose `shift` costs constant time, and that can bring a later item to its front. */
export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head];
    // What left must not stay reachable: an item may hold megabytes. The places are given back in lumps.
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head >= 256 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Swaps the first item with the one `offset` places behind it; does nothing when there is none. */
  bringToFront(offset: number): void {
    const first = this.#items[this.#head];
    const other = this.#items[this.#head + offset];
    if (first === undefined || other === undefined) return;
    this.#items[this.#head] = other;
    this.#items[this.#head + offset] = first;
  }
}
