/** A place in the window, by what became of it. */
const OPEN = 1;
const CONFIRMED = 2;
const FAILED = 3;

/** A power of two, so that a sequence number wraps by a mask. */
const MIN_PLACES = 64;

/**
 * What one unit has handed on and how far that is durable. Messages enter in the order in which they leave, and are
 * confirmed in any; the position goes to the end of the contiguous confirmed run. Pure, and kept in a ring of numbers: what
 * many ordering keys confirm is scattered over the window, and a look at an object of each would cost more than all else.
 *
 * What must stay true: a position that is told never passes a message that is not confirmed, and never goes back; after
 * the first failure nothing behind it counts.
 */
export class UnitWindow<Position> {
  #states = new Uint8Array(MIN_PLACES);
  /** Where the unit stands once the message of this place and all before it are confirmed. */
  #positions = new Array<Position | undefined>(MIN_PLACES);
  /** The first that is not confirmed, and the next to enter. Sequence numbers begin with 1. */
  #first = 1;
  #next = 1;
  #open = 0;
  #isPoisoned = false;
  #committable: Position | undefined;
  readonly #onConfirmed: ((position: Position) => void) | undefined;

  /** @param onConfirmed told of a position when the last message before it is confirmed. */
  constructor(onConfirmed?: (position: Position) => void) {
    this.#onConfirmed = onConfirmed;
  }

  /** Nothing is on its way any more. */
  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** Everything that was handed on is confirmed, and nothing failed. */
  get isConfirmed(): boolean {
    return !this.#isPoisoned && this.#first === this.#next;
  }

  /** @returns the sequence number of the place: it grows with every message. */
  enter(): number {
    if (this.#isPoisoned) throw new Error('a unit whose window is poisoned hands nothing on');
    const sequence = this.#next;
    if (sequence - this.#first === this.#states.length) this.#grow();
    this.#states[sequence & (this.#states.length - 1)] = OPEN;
    this.#next = sequence + 1;
    this.#open += 1;
    return sequence;
  }

  isOpen(sequence: number): boolean {
    return sequence >= this.#first && this.#states[sequence & (this.#states.length - 1)] === OPEN;
  }

  /**
   * The unit has come to `position`: everything up to it is in what entered so far, or needs no publishing. A later
   * position behind the same message takes its place. Of no account once the window is poisoned.
   */
  pass(position: Position): void {
    if (this.#isPoisoned) return;
    if (this.#first === this.#next) this.#committable = position;
    else this.#positions[(this.#next - 1) & (this.#states.length - 1)] = position;
  }

  confirm(sequence: number): void {
    this.#end(sequence, CONFIRMED);
    const states = this.#states;
    const mask = states.length - 1;
    let passed: Position | undefined;
    while (this.#first < this.#next && states[this.#first & mask] === CONFIRMED) {
      const place = this.#first & mask;
      const position = this.#positions[place];
      if (position !== undefined) {
        passed = position;
        this.#positions[place] = undefined;
      }
      this.#first += 1;
    }
    if (passed === undefined) return;
    this.#committable = passed;
    this.#onConfirmed?.(passed);
  }

  /** The message will not be confirmed: it poisons the window. */
  fail(sequence: number): void {
    this.#end(sequence, FAILED);
    this.poison();
  }

  /** Nothing that would enter or pass from now on counts. What entered before goes on to its end, and counts. */
  poison(): void {
    this.#isPoisoned = true;
  }

  /** The newest position that may be committed; undefined when none is newer than the one taken before. */
  takeCommittable(): Position | undefined {
    const position = this.#committable;
    this.#committable = undefined;
    return position;
  }

  #end(sequence: number, state: typeof CONFIRMED | typeof FAILED): void {
    if (!this.isOpen(sequence)) throw new Error(`message ${sequence} of a window ended twice`);
    this.#states[sequence & (this.#states.length - 1)] = state;
    this.#open -= 1;
  }

  #grow(): void {
    const states = new Uint8Array(this.#states.length * 2);
    const positions = new Array<Position | undefined>(states.length);
    for (let sequence = this.#first; sequence < this.#next; sequence += 1) {
      const place = sequence & (this.#states.length - 1);
      states[sequence & (states.length - 1)] = this.#states[place] as number;
      positions[sequence & (states.length - 1)] = this.#positions[place];
    }
    this.#states = states;
    this.#positions = positions;
  }
}
