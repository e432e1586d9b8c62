import { Fifo } from './fifo.ts';

/** What can be put in order. */
export interface Orderable {
  /** Items of one key follow each other; an empty key means no order. */
  readonly orderingKey: string;
}

/** The item that a key waits for, and what is behind it. */
interface Lane<Item> {
  first: Item;
  readonly behind: Fifo<Item>;
}

/**
 * Which item may be delivered next. Of one ordering key only the first item that is not settled may ever be
 * outstanding: it comes back as often as it fails, and what is behind it waits. Pure.
 */
export class DeliveryOrder<Item extends Orderable> {
  readonly #ready = new Fifo<Item>();
  readonly #lanes = new Map<string, Lane<Item>>();

  /** Items that may be delivered now. Some of them may have been settled meanwhile; the caller skips those. */
  get readyCount(): number {
    return this.#ready.length;
  }

  /** Takes in an item in the order of publishing. */
  add(item: Item): void {
    const { orderingKey } = item;
    if (orderingKey === '') {
      this.#ready.push(item);
      return;
    }
    const lane = this.#lanes.get(orderingKey);
    if (lane) {
      lane.behind.push(item);
      return;
    }
    this.#lanes.set(orderingKey, { first: item, behind: new Fifo() });
    this.#ready.push(item);
  }

  /**
   * The next item to deliver. @param overtake how many places an item without a key may jump ahead (fault injection).
   * A key's own order holds even so, because only its first item is ever ready.
   */
  next(overtake = 0): Item | undefined {
    if (overtake > 0) this.#ready.bringToFront(overtake);
    return this.#ready.shift();
  }

  /** An item that was taken failed: it is ready again. Its key stays blocked behind it. */
  again(item: Item): void {
    this.#ready.push(item);
  }

  /** An item needs no delivery any more: the next one of its key becomes ready. */
  settled(item: Item): void {
    const lane = this.#lanes.get(item.orderingKey);
    if (lane?.first !== item) return;
    const next = lane.behind.shift();
    if (next === undefined) {
      this.#lanes.delete(item.orderingKey);
      return;
    }
    lane.first = next;
    this.#ready.push(next);
  }
}
