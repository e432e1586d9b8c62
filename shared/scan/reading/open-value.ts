import { ProtocolError } from './chunk-wire.ts';

/** More than any row that the service reads: an announced size above it is none. */
const MAX_VALUE_BYTES = 256 * 1024 * 1024;

/**
 * A value that comes in pieces. Pieces of one message are kept as they lie there; at the next message they are copied
 * to where the whole value will be, so that a value of many messages is held once and none of its messages is.
 */
export class OpenValue {
  /** The size that the first piece announced; 0 where no value is open. */
  announced = 0;
  timestampMicros: number | bigint = 0;
  labels: readonly string[] = [];
  #pieces: Buffer[] = [];
  #length = 0;
  #whole: Buffer | undefined;

  get isOpen(): boolean {
    return this.announced > 0;
  }

  open(piece: Buffer, announced: number, timestampMicros: number | bigint, labels: readonly string[]): void {
    if (announced > MAX_VALUE_BYTES) throw new ProtocolError(`a value announces ${announced} bytes`);
    this.announced = announced;
    this.timestampMicros = timestampMicros;
    this.labels = labels;
    this.add(piece, announced);
  }

  /** @param announced by this piece; 0 by the last one. */
  add(piece: Buffer, announced: number): void {
    if (announced > 0 && announced !== this.announced) throw new ProtocolError('a value announces two sizes');
    // A shorter one is let pass: cases that Google publishes for readers announce ten bytes and have nine.
    if (this.#length + piece.length > this.announced) throw new ProtocolError('a value is longer than it announced');
    if (this.#whole) piece.copy(this.#whole, this.#length);
    else this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** The message that the pieces lie in is used up. */
  letGo(): void {
    if (!this.isOpen || this.#whole) return;
    const whole = Buffer.allocUnsafeSlow(this.announced);
    let at = 0;
    for (const piece of this.#pieces) at += piece.copy(whole, at);
    this.#whole = whole;
    this.#pieces = [];
  }

  /** The whole value; none is open then. */
  close(): Buffer {
    const value = this.#whole?.subarray(0, this.#length) ?? Buffer.concat(this.#pieces);
    this.drop();
    return value;
  }

  drop(): void {
    this.announced = 0;
    this.#pieces = [];
    this.#length = 0;
    this.#whole = undefined;
  }
}
