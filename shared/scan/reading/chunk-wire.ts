import { ConnectorError } from '../../base/errors.ts';

/** What came is no answer that `ReadRows` can have. Nothing of it may be used. */
export class ProtocolError extends ConnectorError {
  override readonly name = 'ProtocolError';

  constructor(rule: string) {
    super(`the answer of ReadRows broke its protocol: ${rule}`);
  }
}

// Tags: (field number << 3) | wire type. All of these are one byte.
const RESPONSE_CHUNK = 0x0a;
const RESPONSE_LAST_SCANNED = 0x12;
const CHUNK_ROW_KEY = 0x0a;
const CHUNK_FAMILY = 0x12;
const CHUNK_QUALIFIER = 0x1a;
const CHUNK_TIMESTAMP = 0x20;
const CHUNK_LABEL = 0x2a;
const CHUNK_VALUE = 0x32;
const CHUNK_VALUE_SIZE = 0x38;
const CHUNK_RESET_ROW = 0x40;
const CHUNK_COMMIT_ROW = 0x48;
const WRAPPED_VALUE = 0x0a;

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

const NO_LABELS: readonly string[] = Object.freeze([]);

export const RESET = 1;
export const COMMIT = 2;

/**
 * The chunks of one `google.bigtable.v2.ReadRowsResponse`, one after the other, read where they lie: the fields of the
 * current one are places in the message, so that a chunk costs no object. The generated decoder, which makes an object
 * and copies of each chunk, costs more than everything else on the way of a row. Property tests hold this one to it.
 *
 * A field that is there twice counts as its last, an unknown one is passed over. Pure.
 */
export class ChunkReader {
  message: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;

  keyStart = 0;
  keyEnd = 0;
  /** −1: the chunk has no family. */
  familyStart = -1;
  familyEnd = 0;
  /** −1: the chunk has no qualifier. */
  qualifierStart = -1;
  qualifierEnd = 0;
  /** A number where it is one exactly. */
  timestampMicros: number | bigint = 0;
  labels: readonly string[] = NO_LABELS;
  valueStart = 0;
  valueEnd = 0;
  valueSize = 0;
  /** `RESET`, `COMMIT` or 0. */
  rowStatus = 0;

  /** Of the whole message, and known when {@link next} has said that there are no more chunks. */
  lastScannedStart = 0;
  lastScannedEnd = 0;

  /** Begins with a message. Its bytes must stay as they are while its chunks are read. */
  start(message: Buffer): void {
    this.message = message;
    this.#at = 0;
    this.#end = message.length;
    this.lastScannedStart = 0;
    this.lastScannedEnd = 0;
  }

  /** Reads the next chunk; false when there is none. Throws a {@link ProtocolError} where the message cannot be read. */
  next(): boolean {
    while (this.#at < this.#end) {
      const tag = this.#varint();
      if (tag === RESPONSE_CHUNK) {
        this.#readChunk(this.#lengthEnd(this.#end));
        return true;
      }
      if (tag === RESPONSE_LAST_SCANNED) {
        this.lastScannedEnd = this.#lengthEnd(this.#end);
        this.lastScannedStart = this.#at;
        this.#at = this.lastScannedEnd;
      } else {
        this.#skip(tag, this.#end);
      }
    }
    return false;
  }

  #readChunk(end: number): void {
    this.keyStart = this.keyEnd = 0;
    this.familyStart = this.qualifierStart = -1;
    this.timestampMicros = 0;
    this.labels = NO_LABELS;
    this.valueStart = this.valueEnd = 0;
    this.valueSize = 0;
    this.rowStatus = 0;
    while (this.#at < end) {
      const tag = this.#varint();
      switch (tag) {
        case CHUNK_ROW_KEY:
          this.keyEnd = this.#lengthEnd(end);
          this.keyStart = this.#at;
          this.#at = this.keyEnd;
          break;
        case CHUNK_FAMILY:
          this.familyEnd = this.#wrappedEnd(this.#lengthEnd(end));
          this.familyStart = this.#wrappedStart;
          break;
        case CHUNK_QUALIFIER:
          this.qualifierEnd = this.#wrappedEnd(this.#lengthEnd(end));
          this.qualifierStart = this.#wrappedStart;
          break;
        case CHUNK_TIMESTAMP:
          this.timestampMicros = this.#int64();
          break;
        case CHUNK_LABEL: {
          const labelEnd = this.#lengthEnd(end);
          this.labels = [...this.labels, this.message.toString('utf8', this.#at, labelEnd)];
          this.#at = labelEnd;
          break;
        }
        case CHUNK_VALUE:
          this.valueEnd = this.#lengthEnd(end);
          this.valueStart = this.#at;
          this.#at = this.valueEnd;
          break;
        case CHUNK_VALUE_SIZE:
          this.valueSize = Number(this.#int64()) | 0;
          break;
        case CHUNK_RESET_ROW:
          this.rowStatus = this.#int64() ? RESET : 0;
          break;
        case CHUNK_COMMIT_ROW:
          this.rowStatus = this.#int64() ? COMMIT : 0;
          break;
        default:
          this.#skip(tag, end);
      }
    }
    if (this.#at !== end) throw truncated();
  }

  #wrappedStart = 0;

  /** The value of a `StringValue` or `BytesValue` that ends at `end`: where it ends; where it starts is kept aside. */
  #wrappedEnd(end: number): number {
    let valueEnd = this.#at;
    this.#wrappedStart = valueEnd;
    while (this.#at < end) {
      const tag = this.#varint();
      if (tag !== WRAPPED_VALUE) {
        this.#skip(tag, end);
        continue;
      }
      valueEnd = this.#lengthEnd(end);
      this.#wrappedStart = this.#at;
      this.#at = valueEnd;
    }
    return valueEnd;
  }

  /** Where a field that begins with its length ends. It must not pass the end of what it lies in. */
  #lengthEnd(limit: number): number {
    const length = this.#varint();
    const end = this.#at + length;
    if (end > limit) throw truncated();
    return end;
  }

  /** Passes over a field. Groups are in no message of Bigtable. */
  #skip(tag: number, end: number): void {
    const type = tag & 7;
    if (tag >>> 3 === 0) throw new ProtocolError('a field has no number');
    if (type === VARINT) this.#int64();
    else if (type === LENGTH_DELIMITED) this.#at = this.#lengthEnd(end);
    else if (type === FIXED_64) this.#at += 8;
    else if (type === FIXED_32) this.#at += 4;
    else throw new ProtocolError(`a field has wire type ${type}`);
    if (this.#at > end) throw truncated();
  }

  /** A tag or a length: at most 32 bits. */
  #varint(): number {
    const { message } = this;
    let byte = message[this.#at++];
    if (byte === undefined) throw truncated();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 35; shift += 7) {
      byte = message[this.#at++];
      if (byte === undefined) throw truncated();
      if (byte < 0x80) return shift < 28 ? value | (byte << shift) : value + byte * 2 ** 28;
      value |= (byte & 0x7f) << shift;
    }
    throw new ProtocolError('a length has more than 32 bits');
  }

  /** A varint of up to 64 bits as the signed number that it is. */
  #int64(): number | bigint {
    const { message } = this;
    let low = 0;
    let middle = 0;
    let high = 0;
    for (let index = 0; index < 10; index += 1) {
      const byte = message[this.#at++];
      if (byte === undefined) throw truncated();
      const bits = byte & 0x7f;
      if (index < 4) low |= bits << (7 * index);
      else if (index < 8) middle |= bits << (7 * (index - 4));
      else high |= bits << (7 * (index - 8));
      if (byte >= 0x80) continue;
      // 53 bits are 28 and 25.
      if (high === 0 && middle < 2 ** 25) return low + middle * 2 ** 28;
      return BigInt.asIntN(64, (BigInt(high) << 56n) | (BigInt(middle) << 28n) | BigInt(low));
    }
    throw new ProtocolError('a number has more than 64 bits');
  }
}

const truncated = (): ProtocolError => new ProtocolError('a message ended too early');
