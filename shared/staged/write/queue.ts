/** First in, first out, in constant time for each item however long the line is. Pure. */
export class Queue<Item> {
  #items: (Item | undefined)[] = [];
  #taken = 0;

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const item = this.#items[this.#taken];
    if (item === undefined) return undefined;
    this.#items[this.#taken] = undefined;
    this.#taken += 1;
    if (this.#taken * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }
}
