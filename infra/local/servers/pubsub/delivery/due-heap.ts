/** Something that is due at a time and knows its place in the heap. The heap alone writes `heapIndex`. */
export interface Due {
  /** Milliseconds since the epoch. Change it only while the item is outside the heap. */
  dueAt: number;
  /** −1 outside the heap. */
  heapIndex: number;
}

/** A binary heap, earliest first, from which any item can be removed: what was settled early is not kept until its time. */
export class DueHeap<Item extends Due> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** When the earliest item is due; undefined while there is none. */
  get nextDueAt(): number | undefined {
    return this.#items[0]?.dueAt;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Removes an item; does nothing when it is not in the heap. */
  remove(item: Item): void {
    const index = item.heapIndex;
    if (index < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#rise(last, index);
    this.#sink(last, last.heapIndex);
  }

  /** Removes and returns the earliest item that is due at `now`. */
  takeDue(now: number): Item | undefined {
    const first = this.#items[0];
    if (first === undefined || first.dueAt > now) return undefined;
    this.remove(first);
    return first;
  }

  #rise(item: Item, from: number): void {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#items[above]!;
      if (parent.dueAt <= item.dueAt) break;
      this.#place(parent, index);
      index = above;
    }
    this.#place(item, index);
  }

  #sink(item: Item, from: number): void {
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      let below = left;
      const leftItem = this.#items[left];
      if (leftItem === undefined) break;
      const rightItem = this.#items[right];
      if (rightItem !== undefined && rightItem.dueAt < leftItem.dueAt) below = right;
      const child = this.#items[below]!;
      if (child.dueAt >= item.dueAt) break;
      this.#place(child, index);
      index = below;
    }
    this.#place(item, index);
  }

  #place(item: Item, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }
}
