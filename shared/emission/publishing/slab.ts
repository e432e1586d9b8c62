/** Slabs that are kept for the next messages: fresh memory costs page faults. */
const SLAB_BYTES = 16 * 1024;
const MAX_FREE = 512;

/** Room in which the messages of a lane are written down, one behind the other. */
export class Slab {
  readonly buffer: Buffer;
  readonly #pool: SlabPool;
  /** Messages in it that have not ended, and one for as long as more are written. */
  #users = 1;

  constructor(buffer: Buffer, pool: SlabPool) {
    this.buffer = buffer;
    this.#pool = pool;
  }

  enter(): void {
    this.#users += 1;
  }

  leave(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#pool.give(this.buffer);
  }
}

/** The slabs of a topic. */
export class SlabPool {
  readonly #free: Buffer[] = [];

  /** A slab of at least so many bytes, with unknown content; of a few, where `isSmall`. */
  take(bytes: number, isSmall: boolean): Slab {
    if (isSmall || bytes > SLAB_BYTES) return new Slab(Buffer.allocUnsafe(bytes), this);
    return new Slab(this.#free.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES), this);
  }

  give(buffer: Buffer): void {
    if (buffer.length === SLAB_BYTES && this.#free.length < MAX_FREE) this.#free.push(buffer);
  }
}
