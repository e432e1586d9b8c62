import { contains, intersection, isSameSpan, type Nanos, type Span, WHOLE } from './span.ts';

/** One change of partitioning: from a point of the log on, some neighbours are others over the same keys. */
export interface TopologyChange {
  /** 0 for the first of the stream. */
  readonly number: number;
  /** Records before this sequence belong to the old partitions. */
  readonly sequence: number;
  readonly at: Nanos;
  readonly before: readonly Span[];
  readonly after: readonly Span[];
  /** The keys of all of them. */
  readonly span: Span;
}

/**
 * The partitions of one stream and how they came about. They tile the key space at any time. Every change is one
 * `rearrange`; the others only name the usual ones. Keys are latin1; a key that is no boundary, or is one already, throws.
 */
export class Topology {
  #partitions: readonly Span[];
  #changes: TopologyChange[] = [];
  /** Changes that are forgotten. */
  #forgotten = 0;
  readonly #vanished = new Set<Span>();

  /** @param boundaries where partitions meet at first. */
  constructor(boundaries: readonly string[] = []) {
    this.#partitions = tiles(WHOLE, boundaries);
  }

  /** All partitions, in order. */
  get partitions(): readonly Span[] {
    return this.#partitions;
  }

  /** The partitions that the service tells of: those that have vanished are left out. */
  get listed(): readonly Span[] {
    return this.#vanished.size === 0
      ? this.#partitions
      : this.#partitions.filter((partition) => !this.#vanished.has(partition));
  }

  /** The number that the next change gets. */
  get next(): number {
    return this.#forgotten + this.#changes.length;
  }

  /** The number of the oldest change that is remembered, or `next`. */
  get oldest(): number {
    return this.#forgotten;
  }

  partitionOf(key: string): Span {
    return this.#partitions.find((partition) => contains(partition, key))!;
  }

  /** The first change from this number on that touches the keys. */
  firstTouching(span: Span, from: number): TopologyChange | undefined {
    for (let at = Math.max(0, from - this.#forgotten); at < this.#changes.length; at += 1) {
      const change = this.#changes[at]!;
      if (intersection(change.span, span)) return change;
    }
    return undefined;
  }

  /** The first change after the one that last made this very partition; 0 or the oldest for one of the beginning. Undefined: it never was one. */
  changesAfterBirth(span: Span): number | undefined {
    const birth = this.#changes.findLast(({ after }) => after.some((each) => isSameSpan(each, span)));
    if (birth) return birth.number + 1;
    const [first] = this.#changes;
    const atFirst = first ? this.#atOldest() : this.#partitions;
    return atFirst.some((each) => isSameSpan(each, span)) ? this.#forgotten : undefined;
  }

  /** The partitions as they were before the oldest change that is remembered. */
  #atOldest(): readonly Span[] {
    let partitions = this.#partitions;
    for (const { after, before } of this.#changes.toReversed()) {
      const at = partitions.findIndex((each) => isSameSpan(each, after[0]!));
      partitions = [...partitions.slice(0, at), ...before, ...partitions.slice(at + after.length)];
    }
    return partitions;
  }

  /**
   * The partitions from the one that starts at `from` to the one that ends at `to` close. Others that meet at `boundaries`
   * take their place. Without boundaries they are merged; with the boundaries they had they have moved.
   */
  rearrange(from: string, to: string, boundaries: readonly string[], sequence: number, at: Nanos): TopologyChange {
    const first = this.#partitions.findIndex(({ start }) => start === from);
    const last = this.#partitions.findIndex(({ end }) => end === to);
    if (first < 0 || last < first) throw new RangeError(`No partitions from '${from}' to '${to}'`);
    const before = this.#partitions.slice(first, last + 1);
    const span = { start: from, end: to };
    const after = tiles(span, boundaries);
    for (const partition of before) this.#vanished.delete(partition);
    this.#partitions = [...this.#partitions.slice(0, first), ...after, ...this.#partitions.slice(last + 1)];
    const change = { number: this.next, sequence, at, before, after, span };
    this.#changes.push(change);
    return change;
  }

  /** From now on the partition of this key is not told of, until it is back or is changed. */
  vanish(key: string): Span {
    const partition = this.partitionOf(key);
    this.#vanished.add(partition);
    return partition;
  }

  reappear(key: string): void {
    this.#vanished.delete(this.partitionOf(key));
  }

  hasVanished(span: Span): boolean {
    if (this.#vanished.size === 0) return false;
    for (const partition of this.#vanished) if (isSameSpan(partition, span)) return true;
    return false;
  }

  /** Forgets changes before this time: no token is as old. */
  trim(oldest: Nanos): void {
    let count = 0;
    while (count < this.#changes.length && this.#changes[count]!.at < oldest) count += 1;
    if (count === 0) return;
    this.#changes = this.#changes.slice(count);
    this.#forgotten += count;
  }
}

function tiles({ start, end }: Span, boundaries: readonly string[]): Span[] {
  const inner = [...new Set(boundaries)].toSorted();
  if (inner.some((key) => key <= start || (end !== '' && key >= end))) {
    throw new RangeError(`Boundaries must lie between '${start}' and '${end}': ${inner.join(', ')}`);
  }
  return [start, ...inner].map((key, at) => ({ start: key, end: inner[at] ?? end }));
}
