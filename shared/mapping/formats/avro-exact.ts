import { isUtf8 } from 'node:buffer';
import avro from 'avsc';
import { RecordError } from '../../base/errors.ts';

/**
 * Types that read as the library's own do, but exactly: bytes that mean nothing are refused, none is replaced, cut or
 * dropped. The library calls `_read` for every datum and `_update` to read one schema as another; its type declarations
 * do not tell of the two, the tests of the decoder hold them.
 */

/** The bytes of a record and how far they are read. */
interface Tap {
  readonly buf: Buffer;
  pos: number;
  readonly readLong: () => number;
  readonly skipLong: () => void;
}

export interface Reading {
  _read: (tap: Tap) => unknown;
}

/** What the library's types have beside their declarations. */
export interface Internals extends Reading {
  readonly _branchConstructor: (new (value: unknown) => object) | null;
  readonly _update: (resolver: Reading, writer: avro.Type, options: ResolverOptions) => void;
}

export interface ResolverOptions {
  readonly ignoreNamespaces?: boolean;
  readonly registry: Record<string, unknown>;
}

export const internalsOf = (type: avro.Type): Internals => type as unknown as Internals;

const malformed = (what: string): RecordError =>
  new RecordError(`record: must be binary Avro of the schema, got ${what}`);

const REPLACEMENT = '\uFFFD';

function readText(tap: Tap): string {
  const length = tap.readLong();
  const start = tap.pos;
  const end = start + length;
  if (length < 0 || end > tap.buf.length) throw malformed('other bytes');
  tap.pos = end;
  const text = tap.buf.toString('utf8', start, end);
  // The decoder leaves this character where bytes are no UTF-8; a publisher may have sent it too.
  if (text.includes(REPLACEMENT) && !isUtf8(tap.buf.subarray(start, end))) throw malformed('a text that is not UTF-8');
  return text;
}

/** The size of a block of items; each takes a byte at least, so a count beyond the rest of the record is none. */
function readBlockSize(tap: Tap): number {
  const count = tap.readLong();
  if (count < 0) tap.skipLong();
  const size = Math.abs(count);
  if (size > tap.buf.length - tap.pos) throw malformed('other bytes');
  return size;
}

export class ExactString extends avro.types.StringType {
  _read(tap: Tap): string {
    return readText(tap);
  }
}

export class ExactBoolean extends avro.types.BooleanType {
  _read(tap: Tap): boolean {
    const byte = tap.buf[tap.pos];
    tap.pos += 1;
    if (byte === undefined || byte > 1) throw malformed('a boolean that is neither 0 nor 1');
    return byte === 1;
  }
}

export class ExactDouble extends avro.types.DoubleType {
  /** An integer of a schema that a double cannot hold comes as bigint; as the default of a double it is rounded like any. */
  _copy(value: unknown): unknown {
    return typeof value === 'bigint' ? Number(value) : value;
  }

  _update(resolver: Reading, writer: avro.Type, options: ResolverOptions): void {
    if (!promoteLong(resolver, writer)) internalsOf(avro.types.DoubleType.prototype)._update(resolver, writer, options);
  }
}

export class ExactFloat extends avro.types.FloatType {
  _update(resolver: Reading, writer: avro.Type, options: ResolverOptions): void {
    if (!promoteLong(resolver, writer)) internalsOf(avro.types.FloatType.prototype)._update(resolver, writer, options);
  }
}

/** Reads a long as a floating point number, and no long that it would round. */
function promoteLong(resolver: Reading, writer: avro.Type): boolean {
  if (!avro.Type.isType(writer, 'abstract:long')) return false;
  const long = internalsOf(writer);
  resolver._read = (tap) => {
    const integer = long._read(tap) as bigint;
    const number = Number(integer);
    if (BigInt(number) !== integer) throw malformed('a long that a floating point number cannot hold');
    return number;
  };
  return true;
}

/** `this` is the type itself or a resolver, which has the types of its items in the same places. */
export class ExactMap extends avro.types.MapType {
  _read(tap: Tap): object {
    const members = new Map<string, unknown>();
    const values = this.valuesType as Reading;
    for (let size = readBlockSize(tap); size > 0; size = readBlockSize(tap)) {
      for (; size > 0; size -= 1) {
        const name = readText(tap);
        if (members.has(name)) throw malformed('a key of a map twice');
        members.set(name, values._read(tap));
      }
    }
    // fromEntries defines members, so one named __proto__ stays a member.
    return Object.fromEntries(members);
  }
}

export class ExactArray extends avro.types.ArrayType {
  _read(tap: Tap): readonly unknown[] {
    const items: unknown[] = [];
    const type = this.itemsType as unknown as Reading;
    for (let size = readBlockSize(tap); size > 0; size = readBlockSize(tap)) {
      for (; size > 0; size -= 1) items.push(type._read(tap));
    }
    return items;
  }
}

/** Reads another schema's value into the branch of the same name where there is one, else into the first that fits. */
export class ExactUnion extends avro.types.WrappedUnionType {
  _update(resolver: Reading, writer: avro.Type, options: ResolverOptions): void {
    const same = this.types.filter(({ branchName }) => branchName === writer.branchName);
    for (const branch of new Set([...same, ...this.types])) {
      const inner = attemptResolver(branch, writer, options);
      if (!inner) continue;
      const Branch = internalsOf(branch)._branchConstructor;
      resolver._read = Branch ? (tap) => new Branch(inner._read(tap)) : () => null;
      return;
    }
  }
}

/** A failed attempt takes what it registered with it: the library would give it out as a resolver. */
function attemptResolver(reader: avro.Type, writer: avro.Type, options: ResolverOptions): Reading | undefined {
  const known = new Set(Object.keys(options.registry));
  try {
    return (reader.createResolver as (writer: avro.Type, options: ResolverOptions) => unknown).call(
      reader,
      writer,
      options,
    ) as Reading;
  } catch {
    for (const key of Object.keys(options.registry)) {
      if (!known.has(key)) Reflect.deleteProperty(options.registry, key);
    }
    return undefined;
  }
}

const MAX_VARINT_BYTES = 10;

/** A long whose values are bigint: a double cannot hold them all. */
export function exactLong(): avro.Type {
  const long = avro.types.LongType.__with({
    fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
    toBuffer: (value: bigint) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value);
      return bytes;
    },
    fromJSON: int64Of,
    toJSON: String,
    isValid: (value: unknown) => typeof value === 'bigint',
    compare: (left: bigint, right: bigint) => (left < right ? -1 : Number(left > right)),
  });
  const { _read: read } = internalsOf(long);
  return derived(long, {
    _read(this: Reading, tap: Tap): unknown {
      const start = tap.pos;
      const value = read.call(this, tap);
      const length = tap.pos - start;
      // The library drops what is above 64 bits.
      const isTooLarge = length > MAX_VARINT_BYTES || (length === MAX_VARINT_BYTES && (tap.buf[tap.pos - 1] ?? 0) > 1);
      if (isTooLarge) throw malformed('other bytes');
      return value;
    },
  });
}

function int64Of(value: number | bigint | string): bigint {
  const integer = BigInt(value);
  if (BigInt.asIntN(64, integer) === integer) return integer;
  throw new RangeError('must fit 64 bits');
}

/** The same type with methods of its own: the library's objects are frozen. */
export const derived = (type: avro.Type, methods: Partial<Pick<Internals, '_read' | '_update'>>): avro.Type =>
  Object.create(
    type,
    Object.fromEntries(Object.entries(methods).map(([name, value]) => [name, { value }])),
  ) as avro.Type;
