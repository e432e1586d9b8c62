import { Queue } from './queue.ts';

interface Place<Item> {
  readonly item: Item;
  hasLeft: boolean;
}

/**
 * A {@link Queue} that those in it may leave before their turn, in constant time as well: who has left is skipped when
 * the turn comes, and those who have left are never more than half of what is held. Pure.
 */
export class Line<Item> {
  readonly #places = new Queue<Place<Item>>();
  #left = 0;

  /** How many wait. */
  get length(): number {
    return this.#places.length - this.#left;
  }

  /** The next to be served; undefined when nobody waits. */
  get head(): Item | undefined {
    let place = this.#places.head;
    while (place?.hasLeft) {
      this.#left -= 1;
      this.#places.take();
      place = this.#places.head;
    }
    return place?.item;
  }

  /** @returns what takes the item out of the line; to be called once, and not after its turn has come. */
  join(item: Item): () => void {
    const place = { item, hasLeft: false };
    this.#places.push(place);
    return () => {
      place.hasLeft = true;
      this.#left += 1;
      if (this.#left * 2 <= this.#places.length) return;
      this.#places.keep(({ hasLeft }) => !hasLeft);
      this.#left = 0;
    };
  }

  /** Takes the longest in line out; undefined when nobody waits. */
  take(): Item | undefined {
    const item = this.head;
    if (item !== undefined) this.#places.take();
    return item;
  }
}
