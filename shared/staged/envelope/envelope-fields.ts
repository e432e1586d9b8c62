import { BinaryReader } from '@bufbuild/protobuf/wire';
import { ConnectorError } from '../../base/errors.ts';

/**
 * The bytes of an envelope's request, field by field, in the one order in which they may stand. Pure, but that the last
 * names are remembered. Throws a {@link StoredBytesError} for any other order, kind or length.
 */

/**
 * Stored bytes are not what this version stores. Nothing is applied and nothing is dropped: they stay where they are
 * until a version that reads them runs, or somebody has looked. Names no row key and no value.
 */
export class StoredBytesError extends ConnectorError {
  override readonly name = 'StoredBytesError';
}

/** Of CheckAndMutateRowRequest: (field number << 3) | wire type. */
const FALSE_MUTATIONS = 0x2a;

// Tags of Mutation, the kinds that an envelope may hold: setCell, deleteFromColumn, deleteFromFamily, addToCell, mergeToCell.
const ALLOWED_KINDS: ReadonlySet<number> = new Set([0x0a, 0x12, 0x1a, 0x2a, 0x32]);
/** In each of them the family's name is field 1, and the first that is written. */
const FAMILY_NAME = 0x0a;
/** Mutation.set_cell: the kind of a marker. */
const SET_CELL = 0x0a;

/**
 * What the bytes of a name were last read as. The envelopes of a segment are of few tables and families: reading each
 * of their names again would cost more than all else here.
 */
export class LastRead<Value> {
  readonly #read: (text: string) => Value;
  #last: { readonly bytes: Buffer; readonly value: Value } | undefined;

  constructor(read: (text: string) => Value) {
    this.#read = read;
  }

  of(source: Buffer, start: number, end: number): Value {
    const last = this.#last;
    if (last?.bytes.length === end - start && source.compare(last.bytes, 0, last.bytes.length, start, end) === 0) {
      return last.value;
    }
    const value = this.#read(source.toString('utf8', start, end));
    // A copy: the source is a part of a segment, which would be kept with it.
    this.#last = { bytes: Buffer.from(source.subarray(start, end)), value };
    return value;
  }
}

export const asText = (text: string): string => text;

/** The families of a record and of its marker take turns. */
const dataFamilyNames = new LastRead(asText);
const markerFamilyNames = new LastRead(asText);

/** Fields that must come in one order. */
export class Fields {
  readonly #bytes: Buffer;
  readonly #reader: BinaryReader;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#reader = new BinaryReader(bytes);
  }

  get position(): number {
    return this.#reader.pos;
  }

  get hasMore(): boolean {
    return this.#reader.pos < this.#reader.len;
  }

  goTo(position: number): void {
    this.#reader.pos = position;
  }

  /** The name that the field holds; undefined when it is not the next one. */
  optional<Value>(tag: number, names: LastRead<Value>): Value | undefined {
    if (!this.#takeTag(tag)) return undefined;
    const end = this.#end();
    const value = names.of(this.#bytes, this.#reader.pos, end);
    this.#reader.pos = end;
    return value;
  }

  bytes(tag: number, name: string): Buffer {
    if (!this.#takeTag(tag)) throw new StoredBytesError(`an envelope must hold its ${name} in its place`);
    const end = this.#end();
    const bytes = this.#bytes.subarray(this.#reader.pos, end);
    this.#reader.pos = end;
    return bytes;
  }

  int64(tag: number): bigint | undefined {
    return this.#takeTag(tag) ? BigInt(this.#reader.int64()) : undefined;
  }

  /** Steps over one mutation of the false branch and gives its family. */
  mutationFamily(): string {
    const reader = this.#reader;
    const end = this.#mutationEnd();
    if (!ALLOWED_KINDS.has(reader.uint32())) {
      throw new StoredBytesError('an envelope must hold only mutations of cells, columns and families');
    }
    if (this.#end() !== end) throw new StoredBytesError('a mutation of an envelope must be as long as it says');
    // The last of them is the marker, whose family is another one.
    const family = this.#familyOf(end, end === reader.len ? markerFamilyNames : dataFamilyNames);
    reader.pos = end;
    return family;
  }

  /** Steps into one mutation of the false branch, up to what follows its family; undefined when it sets no cell. */
  setCellFamily(): string | undefined {
    const end = this.#mutationEnd();
    if (!this.#takeTag(SET_CELL)) return undefined;
    return this.#end() === end ? this.#familyOf(end, markerFamilyNames) : undefined;
  }

  #familyOf(mutationEnd: number, names: LastRead<string>): string {
    const family = this.optional(FAMILY_NAME, names);
    if (family === undefined) throw new StoredBytesError('a mutation of an envelope must name its family');
    if (this.#reader.pos > mutationEnd) throw new StoredBytesError('a family must not be longer than its mutation');
    return family;
  }

  #mutationEnd(): number {
    if (!this.#takeTag(FALSE_MUTATIONS)) throw new StoredBytesError('an envelope must end with its mutations');
    return this.#end();
  }

  #takeTag(tag: number): boolean {
    if (this.#bytes[this.#reader.pos] !== tag) return false;
    this.#reader.pos += 1;
    return true;
  }

  /** Reads a length, and gives where what is so long ends. */
  #end(): number {
    const length = this.#reader.uint32();
    const end = this.#reader.pos + length;
    if (end > this.#reader.len) throw new StoredBytesError('a field of an envelope must be as long as it says');
    return end;
  }
}
