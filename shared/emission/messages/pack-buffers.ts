/** A pack begins so small where nothing is known of those before it, or many are open. */
const MIN_BYTES = 1024;

/** Room of open packs that may be empty, over all of them. */
const MAX_ROOM_BYTES = 4 * 1024 * 1024;

/** Of buffers that wait to be filled again. */
const MAX_FREE_BYTES = 16 * 1024 * 1024;

/**
 * What packs are written into, used again: fresh memory of a megabyte costs page faults, and a buffer that grows is copied. A
 * pack begins as large as the one before it became. One for all units of a slot, so that its bounds hold however many
 * there are.
 *
 * What must stay true: a buffer comes back once its message has ended, and not before: until then it may be sent again.
 */
export class PackBuffers {
  readonly #free: Buffer[] = [];
  #freeBytes = 0;
  #usual = MIN_BYTES;
  /** Bytes that open packs began with. */
  #room = 0;

  /** For a pack that opens: it tells of its end with the length that it began with. */
  take(): Buffer {
    const wanted = Math.max(MIN_BYTES, Math.min(this.#usual, MAX_ROOM_BYTES - this.#room));
    const buffer = this.#reused(wanted) ?? Buffer.allocUnsafeSlow(wanted);
    this.#room += buffer.length;
    return buffer;
  }

  /** A pack became a message of so many bytes. */
  closed(bytes: number, room: number): void {
    this.#room -= room;
    // A little more than it took: the next one is hardly ever of the same length.
    this.#usual = Math.ceil(bytes * 1.1);
  }

  /** A pack was given up. */
  dropped(buffer: Buffer, room: number): void {
    this.#room -= room;
    this.give(buffer);
  }

  /** @param buffer taken from here, or grown from one that was; nobody reads it any more. */
  give(buffer: Buffer): void {
    if (this.#freeBytes + buffer.length > MAX_FREE_BYTES) return;
    this.#free.push(buffer);
    this.#freeBytes += buffer.length;
  }

  /** The last that came back, if it is of use; one that is not is left to the collector. */
  #reused(wanted: number): Buffer | undefined {
    const free = this.#free.pop();
    if (!free) return undefined;
    this.#freeBytes -= free.length;
    return free.length >= wanted && free.length <= 2 * wanted ? free : undefined;
  }
}
