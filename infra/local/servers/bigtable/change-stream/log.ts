import type { Mutation } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import type { Nanos } from './span.ts';

/** A change of one row, as the stream of a cluster tells it. */
export interface StreamChange {
  /** As latin1. */
  readonly rowKey: string;
  readonly type: 'USER' | 'GARBAGE_COLLECTION';
  /** Where it was made; empty for garbage collection. */
  readonly sourceCluster: string;
  /** The entries, in order, as the wire has them. */
  readonly mutations: readonly Mutation[];
}

/** When a change was made. Of two changes of one cluster the pairs differ, and the later change has the larger one. */
export interface CommitStamp {
  readonly commitTime: Nanos;
  /** Tells changes of one commit time apart; 0 for the first of them. */
  readonly tieBreaker: number;
}

export interface LogRecord extends StreamChange, CommitStamp {
  /** Its place in the log of this cluster: each record has the next one. */
  readonly sequence: number;
  /** When this cluster had it: the commit time, or later for a change of another cluster. Never decreases. */
  readonly arrivedAt: Nanos;
  /** Roughly what it holds. */
  readonly bytes: number;
}

export interface LogBounds {
  /** Records that arrived longer ago are forgotten. */
  readonly retention: Nanos;
  /** Beyond so many bytes the oldest are forgotten early, as if their retention were over. */
  readonly bytes: number;
}

/**
 * The changes of one table in one cluster, in the order of their arrival. Pure but for its own memory: time is an argument, and
 * one that goes back counts as standing still.
 */
export class ChangeLog {
  #bounds: LogBounds;
  #records: LogRecord[] = [];
  /** Place in `#records` of the oldest that is kept. */
  #head = 0;
  /** The sequence of the record at `#records[0]`. */
  #base = 0;
  #bytes = 0;
  #last: CommitStamp = { commitTime: -1n, tieBreaker: 0 };
  #arrivedAt: Nanos = 0n;

  constructor(bounds: LogBounds) {
    this.#bounds = bounds;
  }

  get bounds(): LogBounds {
    return this.#bounds;
  }

  set bounds(bounds: LogBounds) {
    this.#bounds = bounds;
  }

  /** The sequence of the oldest record that is kept, or `end` where there is none. */
  get start(): number {
    return this.#base + this.#head;
  }

  /** The sequence that the next record gets. */
  get end(): number {
    return this.#base + this.#records.length;
  }

  /** Roughly what the log holds. */
  get bytes(): number {
    return this.#bytes;
  }

  at(sequence: number): LogRecord | undefined {
    const place = sequence - this.#base;
    return place < this.#head ? undefined : this.#records[place];
  }

  /** All records that are kept, in order. */
  records(): readonly LogRecord[] {
    return this.#records.slice(this.#head);
  }

  /** The stamp of a change that is made now in this cluster. */
  stamp(now: Nanos): CommitStamp {
    const { commitTime, tieBreaker } = this.#last;
    this.#last = now > commitTime ? { commitTime: now, tieBreaker: 0 } : { commitTime, tieBreaker: tieBreaker + 1 };
    return this.#last;
  }

  append(change: StreamChange, { commitTime, tieBreaker }: CommitStamp, now: Nanos): LogRecord {
    this.#arrivedAt = latest(this.#arrivedAt, now, commitTime);
    const record: LogRecord = {
      ...change,
      commitTime,
      tieBreaker,
      sequence: this.end,
      arrivedAt: this.#arrivedAt,
      bytes: bytesOfChange(change),
    };
    this.#records.push(record);
    this.#bytes += record.bytes;
    this.trim(now);
    return record;
  }

  /** Forgets what is out of bounds. */
  trim(now: Nanos): void {
    const oldest = now - this.#bounds.retention;
    for (;;) {
      const record = this.#records[this.#head];
      if (!record || (record.arrivedAt >= oldest && this.#bytes <= this.#bounds.bytes)) break;
      this.#bytes -= record.bytes;
      this.#head += 1;
    }
    // Half of the list at once: moving the rest for each record would cost its length.
    if (this.#head <= 1024 || this.#head * 2 < this.#records.length) return;
    this.#records = this.#records.slice(this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }

  /** The sequence of the first record that arrived at or after this time. */
  firstSince(time: Nanos): number {
    let low = this.#head;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#records[middle]!.arrivedAt < time) low = middle + 1;
      else high = middle;
    }
    return this.#base + low;
  }
}

const latest = (...times: readonly Nanos[]): Nanos => times.reduce((left, right) => (left > right ? left : right));

/** What a record costs beside its keys and values. */
const RECORD_BYTES = 200;
const ENTRY_BYTES = 100;

function bytesOfChange({ rowKey, mutations }: StreamChange): number {
  let bytes = RECORD_BYTES + rowKey.length + ENTRY_BYTES * mutations.length;
  for (const { mutation } of mutations) if (mutation?.$case === 'setCell') bytes += mutation.value.value.length;
  return bytes;
}
