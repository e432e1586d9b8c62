import { Queue } from '../base/queue.ts';

/** A place in the window of a unit: one message on its way, or several that are one decision. */
export interface WindowEntry<Position> {
  /** Bytes that it holds of the budget. */
  bytes: number;
  /** Grows with every entry of the window. */
  readonly sequence: number;
  state: 'open' | 'confirmed' | 'failed';
  /** Where the unit stands once this entry and all before it are confirmed. */
  position: Position | undefined;
}

/**
 * What one unit has handed on and how far that is durable. Messages enter in the order in which they leave and are
 * confirmed in any; the position goes to the end of the contiguous confirmed run. Pure.
 *
 * What must stay true: a position that is told never passes an entry that is not confirmed, and never goes back; after
 * the first failure nothing behind it counts.
 */
export class UnitWindow<Position> {
  /** Entries that are not confirmed, and those behind them, in order. */
  readonly #entries = new Queue<WindowEntry<Position>>();
  #last: WindowEntry<Position> | undefined;
  #entered = 0;
  #open = 0;
  #bytes = 0;
  #failure: Error | undefined;
  #committable: Position | undefined;

  /** Bytes of the entries that have not ended. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The first failure: the unit must be read again from its position. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Nothing is on its way any more. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** Everything that was handed on is confirmed, and nothing failed. */
  get isConfirmed(): boolean {
    return this.#failure === undefined && this.#entries.length === 0;
  }

  enter(bytes: number): WindowEntry<Position> {
    if (this.#failure) throw new Error('a unit whose window is poisoned hands nothing on', { cause: this.#failure });
    const entry: WindowEntry<Position> = {
      bytes,
      sequence: (this.#entered += 1),
      state: 'open',
      position: undefined,
    };
    this.#entries.push(entry);
    this.#last = entry;
    this.#open += 1;
    this.#bytes += bytes;
    return entry;
  }

  /** More is packed into an entry that has not left. */
  grow(entry: WindowEntry<Position>, bytes: number): void {
    entry.bytes += bytes;
    this.#bytes += bytes;
  }

  /**
   * The unit has come to `position`: everything up to it is in what entered so far, or needs no publishing. A later
   * position behind the same entries takes its place. Of no account once the window is poisoned.
   */
  pass(position: Position): void {
    if (this.#failure) return;
    if (this.#entries.length === 0) this.#committable = position;
    else if (this.#last) this.#last.position = position;
  }

  confirm(entry: WindowEntry<Position>): void {
    this.#end(entry, 'confirmed');
    for (let head = this.#entries.head; head?.state === 'confirmed'; head = this.#entries.head) {
      if (head.position !== undefined) this.#committable = head.position;
      this.#entries.take();
    }
    if (this.#entries.length === 0) this.#last = undefined;
  }

  /** The entry will not be confirmed: it poisons the window. */
  fail(entry: WindowEntry<Position>, failure: Error): void {
    this.#end(entry, 'failed');
    this.poison(failure);
  }

  /** Nothing that would enter or pass from now on counts. What entered before goes on to its end, and counts. */
  poison(failure: Error): void {
    this.#failure ??= failure;
  }

  /** The newest position that may be committed; undefined when none is newer than the one taken before. */
  takeCommittable(): Position | undefined {
    const position = this.#committable;
    this.#committable = undefined;
    return position;
  }

  #end(entry: WindowEntry<Position>, state: 'confirmed' | 'failed'): void {
    if (entry.state !== 'open') throw new Error(`an entry of a window ended twice: ${entry.state}, then ${state}`);
    entry.state = state;
    this.#open -= 1;
    this.#bytes -= entry.bytes;
  }
}
