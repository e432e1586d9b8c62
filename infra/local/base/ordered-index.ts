/** The first position at which `isBefore` is false; `isBefore` must be true for a prefix of the positions only. */
export function partitionPoint(length: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A position in the buckets; one that holds no item is an end. */
interface Place {
  readonly bucket: number;
  readonly position: number;
}

/** A full bucket is cut in two. Shifting part of 512 pointers costs less than searching for the place. */
const MAX_BUCKET_ITEMS = 512;

/**
 * Items by key and in key order, as JavaScript compares strings. Writes need only the key, so an item is found through a hash map and a
 * new one waits in a list; the first read that needs the order sorts that list and files its items into sorted buckets
 * of at most 512 (a B+ tree of two levels). A random insert therefore costs a hash, and its share of the later filing
 * O(log n) comparisons and a bounded shift: items that are filed in order find their buckets still in the processor's
 * cache, which made the difference (filing every item at once cost about 7 µs an item at 300,000, most of it waiting
 * for memory). One sorted array would shift half of itself for each random key, or be sorted again by each scan.
 */
export class OrderedIndex<Item extends { readonly key: string }> {
  readonly #make: (key: string) => Item;
  readonly #byKey = new Map<string, Item>();
  /** Items that no bucket holds yet, in any order. */
  #unfiled: Item[] = [];
  /** Never empty, and no bucket is empty unless it is the only one. */
  #buckets: Item[][] = [[]];
  /** Counts the changes of the buckets, so that a scan knows when its place is no longer one. */
  #version = 0;

  /** @param make an item for a key that has none. */
  constructor(make: (key: string) => Item) {
    this.#make = make;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Item | undefined {
    return this.#byKey.get(key);
  }

  /** The item with this key, made if there was none. One that is not wanted after all must be taken out again. */
  getOrInsert(key: string): Item {
    const found = this.#byKey.get(key);
    if (found) return found;
    const item = this.#make(key);
    this.#byKey.set(key, item);
    this.#unfiled.push(item);
    return item;
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return;
    if (this.#unfiled.at(-1)?.key === key) {
      this.#unfiled.pop();
      return;
    }
    this.#file();
    this.#version += 1;
    const at = this.#bucketOf(key);
    const bucket = this.#buckets[at]!;
    const position = partitionPoint(bucket.length, (i) => bucket[i]!.key < key);
    if (bucket[position]?.key === key) bucket.splice(position, 1);
    if (bucket.length === 0 && this.#buckets.length > 1) this.#buckets.splice(at, 1);
  }

  clear(): void {
    this.#version += 1;
    this.#byKey.clear();
    this.#unfiled = [];
    this.#buckets = [[]];
  }

  /**
   * The items at or after `key` (after it, when `isExclusive`), in order. Items may come and go between two steps: the
   * next step gives the item that then follows.
   */
  *ascending(key: string, isExclusive: boolean): Generator<Item> {
    let at = this.#find(key, isExclusive);
    let filedVersion = this.#version;
    for (let item = this.#at(at); item; item = this.#at(at)) {
      yield item;
      this.#file();
      at = filedVersion === this.#version ? this.#after(at) : this.#find(item.key, true);
      filedVersion = this.#version;
    }
  }

  /** The items at or before `key` (before it, when `isExclusive`), in reverse; from the last of all for undefined. */
  *descending(key: string | undefined, isExclusive: boolean): Generator<Item> {
    let at = this.#before(this.#find(key, !isExclusive));
    let filedVersion = this.#version;
    for (let item = this.#at(at); item; item = this.#at(at)) {
      yield item;
      this.#file();
      at = this.#before(filedVersion === this.#version ? at : this.#find(item.key, false));
      filedVersion = this.#version;
    }
  }

  /** Every item, in no order. The index must not change meanwhile. */
  [Symbol.iterator](): Iterator<Item> {
    return this.#byKey.values();
  }

  /** Where the first item at or after the key is or would be; past the last for undefined. */
  #find(key: string | undefined, isExclusive: boolean): Place {
    this.#file();
    const last = this.#buckets.length - 1;
    if (key === undefined) return { bucket: last, position: this.#buckets[last]!.length };
    const bucket = this.#bucketOf(key);
    const items = this.#buckets[bucket]!;
    const position = partitionPoint(items.length, (i) => items[i]!.key < key || (isExclusive && items[i]!.key === key));
    return position === items.length && bucket < last ? { bucket: bucket + 1, position: 0 } : { bucket, position };
  }

  #at({ bucket, position }: Place): Item | undefined {
    return this.#buckets[bucket]?.[position];
  }

  #after({ bucket, position }: Place): Place {
    const isLast = position + 1 >= this.#buckets[bucket]!.length;
    return isLast ? { bucket: bucket + 1, position: 0 } : { bucket, position: position + 1 };
  }

  #before({ bucket, position }: Place): Place {
    return position > 0
      ? { bucket, position: position - 1 }
      : { bucket: bucket - 1, position: this.#lengthOf(bucket - 1) - 1 };
  }

  #lengthOf(bucket: number): number {
    return this.#buckets[bucket]?.length ?? 0;
  }

  #file(): void {
    if (this.#unfiled.length === 0) return;
    const items = this.#unfiled.sort((left, right) => (left.key < right.key ? -1 : 1));
    this.#unfiled = [];
    this.#version += 1;
    for (const item of items) this.#insert(item);
  }

  #insert(item: Item): void {
    const { key } = item;
    const at = this.#bucketOf(key);
    const bucket = this.#buckets[at]!;
    const last = bucket.at(-1);
    // Keys often arrive in order: the end of the bucket needs no search.
    const isAtEnd = last === undefined || last.key < key;
    if (isAtEnd) bucket.push(item);
    else
      bucket.splice(
        partitionPoint(bucket.length, (i) => bucket[i]!.key < key),
        0,
        item,
      );
    if (bucket.length > MAX_BUCKET_ITEMS) this.#cut(at, isAtEnd);
  }

  /** The last bucket that starts at or before the key: the one that holds it or would. */
  #bucketOf(key: string): number {
    const buckets = this.#buckets;
    const after = partitionPoint(buckets.length, (at) => (buckets[at]![0]?.key ?? '') <= key);
    return Math.max(0, after - 1);
  }

  /** A bucket that grew at its end is left full, because keys that arrive in order never come back to it. */
  #cut(at: number, isGrowingAtEnd: boolean): void {
    const moved = this.#buckets[at]!.splice(isGrowingAtEnd ? MAX_BUCKET_ITEMS : MAX_BUCKET_ITEMS >>> 1);
    this.#buckets.splice(at + 1, 0, moved);
  }
}
