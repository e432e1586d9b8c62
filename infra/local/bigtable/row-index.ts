import { partitionPoint, type Row } from './row.ts';

/** A full bucket is cut in two. 512 keeps the shifting of one insert inside a few cache lines' worth of pointers. */
const MAX_BUCKET_ROWS = 512;

/**
 * The rows of a table in key order: sorted buckets of at most 512 rows in a sorted list, which is a B+ tree of two
 * levels. An insert searches the list, searches one bucket and shifts part of that bucket, so a random key costs
 * O(log n) comparisons and a bounded move; a million rows make about 3,000 buckets, whose list shifts only when a
 * bucket is cut. One sorted array would shift half a million pointers for each random key; sorting it lazily would
 * make every scan that follows a write pay for the whole table. Point lookups use the same search, so there is no
 * second structure to hold in memory beside it.
 */
export class RowIndex {
  /** Never empty, and no bucket is empty unless it is the only one. */
  readonly #buckets: Row[][] = [[]];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): Row | undefined {
    const bucket = this.#buckets[this.#bucketOf(key)]!;
    const row = bucket[partitionPoint(bucket.length, (at) => bucket[at]!.key < key)];
    return row?.key === key ? row : undefined;
  }

  /** The row with this key, made empty if there was none. A row that stays empty must be taken out again. */
  getOrInsert(key: string): Row {
    const at = this.#bucketOf(key);
    const bucket = this.#buckets[at]!;
    const last = bucket.at(-1);
    // Keys often arrive in order: the end of the bucket needs no search.
    const position =
      last === undefined || last.key < key ? bucket.length : partitionPoint(bucket.length, (i) => bucket[i]!.key < key);
    const found = bucket[position];
    if (found?.key === key) return found;
    const row: Row = { key, columns: [] };
    bucket.splice(position, 0, row);
    this.#size += 1;
    if (bucket.length > MAX_BUCKET_ROWS) this.#cut(at, position === MAX_BUCKET_ROWS);
    return row;
  }

  delete(key: string): void {
    const at = this.#bucketOf(key);
    const bucket = this.#buckets[at]!;
    const position = partitionPoint(bucket.length, (i) => bucket[i]!.key < key);
    if (bucket[position]?.key !== key) return;
    bucket.splice(position, 1);
    this.#size -= 1;
    if (bucket.length === 0 && this.#buckets.length > 1) this.#buckets.splice(at, 1);
  }

  clear(): void {
    this.#buckets.splice(0, this.#buckets.length, []);
    this.#size = 0;
  }

  /** The first row at or after `key` (after it, when `isExclusive`). */
  next(key: string, isExclusive: boolean): Row | undefined {
    const at = this.#bucketOf(key);
    const bucket = this.#buckets[at]!;
    const position = partitionPoint(
      bucket.length,
      (i) => bucket[i]!.key < key || (isExclusive && bucket[i]!.key === key),
    );
    return bucket[position] ?? this.#buckets[at + 1]?.[0];
  }

  /** The last row at or before `key` (before it, when `isExclusive`); the last row of all for undefined. */
  previous(key: string | undefined, isExclusive: boolean): Row | undefined {
    if (key === undefined) return this.#buckets.at(-1)?.at(-1);
    const at = this.#bucketOf(key);
    const bucket = this.#buckets[at]!;
    const after = partitionPoint(
      bucket.length,
      (i) => bucket[i]!.key < key || (!isExclusive && bucket[i]!.key === key),
    );
    return after > 0 ? bucket[after - 1] : this.#buckets[at - 1]?.at(-1);
  }

  /** Every row in key order. The index must not change meanwhile. */
  *[Symbol.iterator](): Generator<Row> {
    for (const bucket of this.#buckets) yield* bucket;
  }

  /** The last bucket that starts at or before the key: the one that holds it or would. */
  #bucketOf(key: string): number {
    const buckets = this.#buckets;
    const after = partitionPoint(buckets.length, (at) => (buckets[at]![0]?.key ?? '') <= key);
    return Math.max(0, after - 1);
  }

  /** A bucket that grew at its end is left full, because keys that arrive in order never come back to it. */
  #cut(at: number, isGrowingAtEnd: boolean): void {
    const bucket = this.#buckets[at]!;
    const moved = bucket.splice(isGrowingAtEnd ? MAX_BUCKET_ROWS : MAX_BUCKET_ROWS >>> 1);
    this.#buckets.splice(at + 1, 0, moved);
  }
}
