/** A pack begins so small where nothing is known of those before it, or many are open. */
const MIN_BYTES = 1024;

/** Room of open packs that may be empty, over all of a unit. */
const MAX_ROOM_BYTES = 4 * 1024 * 1024;

/** Of buffers that wait to be filled again. */
const MAX_FREE_BYTES = 16 * 1024 * 1024;

/**
 * What the packs of a unit are written into, used again: fresh memory of a megabyte costs page faults, and a buffer that grows
 * is copied. A pack begins as large as the one before it became.
 *
 * What must stay true: a buffer comes back once its message has ended, and not before: until then it may be sent again.
 */
export class PackBuffers {
  readonly #free: Buffer[] = [];
  #freeBytes = 0;
  #usual = MIN_BYTES;

  /** @param open packs of the unit, the new one included. */
  take(open: number): Buffer {
    const wanted = Math.max(MIN_BYTES, Math.min(this.#usual, Math.floor(MAX_ROOM_BYTES / open)));
    const free = this.#free.pop();
    if (!free) return Buffer.allocUnsafeSlow(wanted);
    this.#freeBytes -= free.length;
    return free.length >= wanted && free.length <= 2 * wanted ? free : Buffer.allocUnsafeSlow(wanted);
  }

  /** A pack of so many bytes was closed. */
  closed(bytes: number): void {
    // A little more than it took: the next one is hardly ever of the same length.
    this.#usual = Math.ceil(bytes * 1.1);
  }

  /** @param buffer taken from here, or grown from one that was; nobody reads it any more. */
  give(buffer: Buffer): void {
    if (this.#freeBytes + buffer.length > MAX_FREE_BYTES) return;
    this.#free.push(buffer);
    this.#freeBytes += buffer.length;
  }
}
