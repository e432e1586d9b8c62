/**
 * Request buffers, used again: fresh megabytes cost page faults at every request. A buffer may be given back only
 * after its call has ended, because grpc-js keeps the message for a transparent retry until then.
 */
export class BufferPool {
  readonly #free: Buffer[] = [];
  readonly #maxKept: number;
  readonly #maxKeptBytes: number;

  /** Keeps at most `maxKept` buffers of at most `maxKeptBytes` each; what is larger is left to the collector. */
  constructor(maxKept = 8, maxKeptBytes = 8 * 1024 * 1024) {
    this.#maxKept = maxKept;
    this.#maxKeptBytes = maxKeptBytes;
  }

  /** A buffer of at least `size` bytes with unknown content. */
  take(size: number): Buffer {
    const index = this.#free.findIndex((buffer) => buffer.length >= size);
    if (index >= 0) return this.#free.splice(index, 1)[0] as Buffer;
    return Buffer.allocUnsafeSlow(roundUp(size));
  }

  give(buffer: Buffer): void {
    if (buffer.length > this.#maxKeptBytes) return;
    if (this.#free.length < this.#maxKept) {
      this.#free.push(buffer);
      return;
    }
    // Full: keep the larger of the two, so that the pool grows into the batches that are really sent.
    const smallest = this.#free.reduce(
      (at, kept, index) => (kept.length < (this.#free[at] as Buffer).length ? index : at),
      0,
    );
    if ((this.#free[smallest] as Buffer).length < buffer.length) this.#free[smallest] = buffer;
  }
}

/** The next power of two, at least 4 KiB, so that batches of nearly one size share buffers. */
const roundUp = (size: number): number => 2 ** Math.max(12, Math.ceil(Math.log2(size)));
