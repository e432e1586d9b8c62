import { partitionPoint, type Row } from './row.ts';

/** A position in the buckets; one that holds no row is an end. */
interface Place {
  readonly bucket: number;
  readonly position: number;
}

/** A full bucket is cut in two. Shifting part of 512 pointers costs less than searching for the place. */
const MAX_BUCKET_ROWS = 512;

/**
 * The rows of a table, by key and in key order. Writes need only the key, so a row is found through a hash map and a
 * new one waits in a list; the first read that needs the order sorts that list and files its rows into sorted buckets
 * of at most 512 (a B+ tree of two levels). A random insert therefore costs a hash, and its share of the later filing
 * O(log n) comparisons and a bounded shift: rows that are filed in order find their buckets still in the processor's
 * cache, which made the difference (filing every row at once cost about 7 µs a row at 300,000 rows, most of it waiting
 * for memory). One sorted array would shift half of itself for each random key, or be sorted again by each scan.
 */
export class RowIndex {
  readonly #byKey = new Map<string, Row>();
  /** Rows that no bucket holds yet, in any order. */
  #unfiled: Row[] = [];
  /** Never empty, and no bucket is empty unless it is the only one. */
  #buckets: Row[][] = [[]];
  /** Counts the changes of the buckets, so that a scan knows when its place is no longer one. */
  #version = 0;

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Row | undefined {
    return this.#byKey.get(key);
  }

  /** The row with this key, made empty if there was none. A row that stays empty must be taken out again. */
  getOrInsert(key: string): Row {
    const found = this.#byKey.get(key);
    if (found) return found;
    const row: Row = { key, cells: [] };
    this.#byKey.set(key, row);
    this.#unfiled.push(row);
    return row;
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
   * The rows at or after `key` (after it, when `isExclusive`), in order. Rows may come and go between two steps: the
   * next step gives the row that then follows.
   */
  *ascending(key: string, isExclusive: boolean): Generator<Row> {
    let at = this.#find(key, isExclusive);
    let filedVersion = this.#version;
    for (let row = this.#at(at); row; row = this.#at(at)) {
      yield row;
      this.#file();
      at = filedVersion === this.#version ? this.#after(at) : this.#find(row.key, true);
      filedVersion = this.#version;
    }
  }

  /** The rows at or before `key` (before it, when `isExclusive`), in reverse; from the last row of all for undefined. */
  *descending(key: string | undefined, isExclusive: boolean): Generator<Row> {
    let at = this.#before(this.#find(key, !isExclusive));
    let filedVersion = this.#version;
    for (let row = this.#at(at); row; row = this.#at(at)) {
      yield row;
      this.#file();
      at = this.#before(filedVersion === this.#version ? at : this.#find(row.key, false));
      filedVersion = this.#version;
    }
  }

  /** Every row, in no order. The index must not change meanwhile. */
  [Symbol.iterator](): Iterator<Row> {
    return this.#byKey.values();
  }

  /** Where the first row at or after the key is or would be; past the last row for undefined. */
  #find(key: string | undefined, isExclusive: boolean): Place {
    this.#file();
    const last = this.#buckets.length - 1;
    if (key === undefined) return { bucket: last, position: this.#buckets[last]!.length };
    const bucket = this.#bucketOf(key);
    const rows = this.#buckets[bucket]!;
    const position = partitionPoint(rows.length, (i) => rows[i]!.key < key || (isExclusive && rows[i]!.key === key));
    return position === rows.length && bucket < last ? { bucket: bucket + 1, position: 0 } : { bucket, position };
  }

  #at({ bucket, position }: Place): Row | undefined {
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
    const rows = this.#unfiled.sort((left, right) => (left.key < right.key ? -1 : 1));
    this.#unfiled = [];
    this.#version += 1;
    for (const row of rows) this.#insert(row);
  }

  #insert(row: Row): void {
    const { key } = row;
    const at = this.#bucketOf(key);
    const bucket = this.#buckets[at]!;
    const last = bucket.at(-1);
    // Keys often arrive in order: the end of the bucket needs no search.
    const isAtEnd = last === undefined || last.key < key;
    if (isAtEnd) bucket.push(row);
    else
      bucket.splice(
        partitionPoint(bucket.length, (i) => bucket[i]!.key < key),
        0,
        row,
      );
    if (bucket.length > MAX_BUCKET_ROWS) this.#cut(at, isAtEnd);
  }

  /** The last bucket that starts at or before the key: the one that holds it or would. */
  #bucketOf(key: string): number {
    const buckets = this.#buckets;
    const after = partitionPoint(buckets.length, (at) => (buckets[at]![0]?.key ?? '') <= key);
    return Math.max(0, after - 1);
  }

  /** A bucket that grew at its end is left full, because keys that arrive in order never come back to it. */
  #cut(at: number, isGrowingAtEnd: boolean): void {
    const moved = this.#buckets[at]!.splice(isGrowingAtEnd ? MAX_BUCKET_ROWS : MAX_BUCKET_ROWS >>> 1);
    this.#buckets.splice(at + 1, 0, moved);
  }
}
