import { Queue } from '../../base/queue.ts';
import { MAX_MUTATIONS, type RowEntry, type SizedEntry } from '../../model/mutation.ts';
import type { WaitingEntry } from '../waiting/waiting-entry.ts';

/** One wire entry: one record, or several of the same row in their order of arrival. */
export interface RowWrite {
  readonly row: string;
  /** Never empty while the write is held or ready. */
  parts: readonly WaitingEntry[];
  /** Attempts that ended without a judgement. */
  attempts: number;
  /** Attempts to repair what it misses. */
  repairs: number;
}

export interface BatchLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** A write with its sums, which only the queue reads and keeps. */
interface Held extends RowWrite {
  parts: WaitingEntry[];
  bytes: number;
  mutations: number;
  /** The write of the same row that waits behind this one. */
  behind: Held | undefined;
}

/** Every row with a write in the queue: whether one is held by a request, and the first and last of those that wait. */
interface Row {
  isHeld: boolean;
  first: Held | undefined;
  last: Held | undefined;
}

/** Merged writes stay below this size, so that a hot row does not grow requests that take long to send again. */
const MAX_MERGED_BYTES = 4 * 1024 * 1024;

/**
 * The waiting room of one table: what is ready to be sent and what waits behind a request for its row. Pure
 * bookkeeping: no I/O, no clock.
 *
 * The order it keeps: two entries of one row are never two entries of one request, nor in two requests at once. Those
 * that wait for the same row are merged, in order of arrival, into one write; the next write of the row leaves when
 * the one before it was released. So a hot row costs requests, not order.
 */
export class WriteQueue {
  /** The first waiting write of every row that is not held, first come first. */
  readonly #ready = new Queue<Held>();
  readonly #rows = new Map<string, Row>();
  #readyBytes = 0;

  /** True when nothing is ready, waiting or held. */
  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  get readyWrites(): number {
    return this.#ready.length;
  }

  /** Bytes of what is ready, abandoned entries included until they are met. */
  get readyBytes(): number {
    return this.#readyBytes;
  }

  add(entry: WaitingEntry): void {
    const key = entry.entry.rowKey.toString('latin1');
    let row = this.#rows.get(key);
    if (!row) this.#rows.set(key, (row = { isHeld: false, first: undefined, last: undefined }));
    const { last } = row;
    if (last && canMerge(last, entry)) {
      last.parts.push(entry);
      last.bytes += entry.bytes;
      last.mutations += entry.entry.mutations.length;
      if (isReady(row, last)) this.#readyBytes += entry.bytes;
      return;
    }
    const write: Held = {
      row: key,
      parts: [entry],
      bytes: entry.bytes,
      mutations: entry.entry.mutations.length,
      attempts: 0,
      repairs: 0,
      behind: undefined,
    };
    if (last) last.behind = write;
    else row.first = write;
    row.last = write;
    if (isReady(row, write)) this.#enqueue(write);
  }

  /** Takes the next batch: up to the limits, at least one write, never above the service's mutations per request. */
  take({ maxEntries, maxBytes }: BatchLimits): RowWrite[] {
    const batch: Held[] = [];
    let bytes = 0;
    let mutations = 0;
    while (batch.length < maxEntries && bytes < maxBytes) {
      const write = this.#ready.head;
      if (!write) break;
      this.#dropAbandoned(write);
      if (batch.length > 0 && mutations + write.mutations > MAX_MUTATIONS) break;
      this.#ready.take();
      this.#readyBytes -= write.bytes;
      const row = this.#rowOf(write);
      row.first = write.behind;
      if (!row.first) row.last = undefined;
      write.behind = undefined;
      row.isHeld = true;
      if (write.parts.length === 0) {
        this.release(write);
        continue;
      }
      batch.push(write);
      bytes += write.bytes;
      mutations += write.mutations;
    }
    return batch;
  }

  /** The write is done with: its row is free for the next one. */
  release(write: RowWrite): void {
    const row = this.#rowOf(write);
    row.isHeld = false;
    if (row.first) this.#enqueue(row.first);
    else this.#rows.delete(write.row);
  }

  /**
   * Puts a held write back at the head of the queue for another attempt, with the parts that are still undecided.
   * Nothing of its row overtakes it.
   */
  retry(write: RowWrite, undecided: readonly WaitingEntry[]): void {
    const row = this.#rowOf(write);
    const again: Held = { ...write, parts: [...undecided], bytes: 0, mutations: 0, behind: row.first };
    measure(again);
    row.isHeld = false;
    row.first = again;
    row.last ??= again;
    this.#ready.pushFirst(again);
    this.#readyBytes += again.bytes;
  }

  #enqueue(write: Held): void {
    this.#ready.push(write);
    this.#readyBytes += write.bytes;
  }

  #dropAbandoned(write: Held): void {
    if (!write.parts.some(({ isAbandoned }) => isAbandoned)) return;
    this.#readyBytes -= write.bytes;
    write.parts = write.parts.filter(({ isAbandoned }) => !isAbandoned);
    measure(write);
    this.#readyBytes += write.bytes;
  }

  #rowOf(write: RowWrite): Row {
    const row = this.#rows.get(write.row);
    if (!row) throw new Error('a write left its queue before it was released');
    return row;
  }
}

/** What goes on the wire for entries of one row: the only one as it is, or all mutations in the order of the entries. */
export function mergeEntries(parts: readonly SizedEntry[]): RowEntry {
  const [first] = parts;
  if (!first) throw new Error('a write without parts has no wire form');
  if (parts.length === 1) return first.entry;
  return { rowKey: first.entry.rowKey, mutations: parts.flatMap(({ entry }) => entry.mutations) };
}

const isReady = (row: Row, write: Held): boolean => !row.isHeld && row.first === write;

const canMerge = (write: Held, entry: WaitingEntry): boolean =>
  write.mutations + entry.entry.mutations.length <= MAX_MUTATIONS && write.bytes + entry.bytes <= MAX_MERGED_BYTES;

function measure(write: Held): void {
  write.bytes = write.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  write.mutations = write.parts.reduce((sum, { entry }) => sum + entry.mutations.length, 0);
}
