import type avro from 'avsc';
import { formatDecimal, integerOf } from '../values/decimal.ts';
import { type FieldObject, type FieldValue, Instant, NumberText, refuseValue } from '../values/field-value.ts';
import { formatDate, formatInstant } from '../values/time.ts';
import {
  type AvroTypes,
  isArray,
  isEnum,
  isFixed,
  isMap,
  isRecord,
  isUnion,
  type LogicalKind,
  NANOS,
  valuesOf,
} from './avro-types.ts';

/** Gives the field value of a datum. Refuses what is none of its type, naming the path. */
export type AvroReader = (value: FieldValue | undefined, path: string) => FieldValue;

/**
 * Compiles the walk from a datum to a field value. The library's decoded form and Avro's JSON encoding have the same
 * shape (unions wrapped in their branch's name) and differ in the leaves alone, so one walk reads both; the library's
 * own JSON reading would lose digits of longs. As a `datum` the value stays in the library's form, to be written.
 */
export function avroReader({ type: root, logical }: AvroTypes, form: 'value' | 'datum' = 'value'): AvroReader {
  const isDatum = form === 'datum';
  const readers = new Map<avro.Type, AvroReader>();
  return readerOf(root);

  function readerOf(type: avro.Type): AvroReader {
    // A type that contains itself finds the entry that is still being made.
    const known = readers.get(type);
    if (known) return known;
    const late: AvroReader = (value, path) => (readers.get(type) ?? late)(value, path);
    readers.set(type, late);
    const read = compile(type);
    readers.set(type, read);
    return read;
  }

  function compile(type: avro.Type): AvroReader {
    if (isRecord(type)) return recordReader(type);
    if (isUnion(type)) return unionReader(type);
    if (isArray(type)) {
      const item = readerOf(type.itemsType);
      return (value, path) =>
        Array.isArray(value)
          ? (value as readonly FieldValue[]).map((element, at) => item(element, `${path}.${at}`))
          : refuseValue(path, 'must be an array', value);
    }
    if (isMap(type)) {
      const member = readerOf(valuesOf(type));
      return (value, path) => {
        if (!hasMembers(value)) return refuseValue(path, 'must be a map', value);
        return Object.fromEntries(
          Object.entries(value).map(([name, inner]) => {
            if (!name.isWellFormed()) return refuseValue(path, 'must have keys of well-formed Unicode', name);
            return [name, member(inner, `${path}.${name}`)];
          }),
        );
      };
    }
    const read = primitiveReader(type, isDatum);
    const kind = isDatum ? undefined : logical.get(type);
    return kind ? (value, path) => logicalValue(kind, read(value, path), path) : read;
  }

  function recordReader(type: avro.types.RecordType): AvroReader {
    const fields = type.fields.map((field) => ({
      field,
      names: [field.name, ...field.aliases],
      read: readerOf(field.type),
    }));
    /** A datum is of the schema that its publisher wrote it with. Without that one, a member may be of a newer schema. */
    const known = new Set(fields.flatMap(({ names }) => names));
    return (value, path) => {
      if (!hasMembers(value)) return refuseValue(path, 'must be a record', value);
      const unknown = isDatum ? Object.keys(value).find((name) => !known.has(name)) : undefined;
      if (unknown !== undefined) return refuseValue(pathTo(path, unknown), NO_FIELD, value[unknown]);
      const members = fields.map(({ field, names, read }) => {
        const at = pathTo(path, field.name);
        const member = memberOf(value, names, at);
        return [field.name, read(member === undefined ? (field.defaultValue() as FieldValue) : member, at)] as const;
      });
      return Object.fromEntries(members);
    };
  }

  function unionReader(type: avro.types.WrappedUnionType): AvroReader {
    const branches = new Map(type.types.map((branch) => [branch.branchName, readerOf(branch)]));
    return (value, path) => {
      if (value === null && branches.has('null')) return null;
      const [entry, ...more] = hasMembers(value) ? Object.entries(value) : [];
      const read = entry && more.length === 0 ? branches.get(entry[0]) : undefined;
      if (!read || !entry) return refuseValue(path, 'must be one branch of its union, by name', value);
      const inner = read(entry[1], path);
      return isDatum ? { [entry[0]]: inner } : inner;
    };
  }
}

const NO_FIELD = 'must be a field of the schema that its revision names';

const pathTo = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** The library gives records and union branches as objects of its own classes, beside plain ones from JSON. */
const hasMembers = (value: FieldValue | undefined): value is FieldObject =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !Buffer.isBuffer(value) &&
  !(value instanceof NumberText);

/** The member by its name or by an alias: JSON names its members, so an older name is read as binary Avro is. */
function memberOf(value: FieldObject, names: readonly string[], path: string): FieldValue | undefined {
  const [only, ...aliases] = names;
  if (only !== undefined && aliases.length === 0) return Object.hasOwn(value, only) ? value[only] : undefined;
  const [name, ...more] = names.filter((candidate) => Object.hasOwn(value, candidate));
  if (more.length > 0) return refuseValue(path, 'must be there under one of its names', value);
  return name === undefined ? undefined : value[name];
}

function primitiveReader(type: avro.Type, isDatum: boolean): AvroReader {
  switch (type.typeName) {
    case 'null':
      return (value, path) => (value === null ? null : refuseValue(path, 'must be null', value));
    case 'boolean':
      return (value, path) => (typeof value === 'boolean' ? value : refuseValue(path, 'must be a boolean', value));
    case 'int':
      return isDatum ? (value, path) => Number(integerReader32(value, path)) : integerReader32;
    case 'long':
    case 'abstract:long':
      return integerReader(64);
    case 'float':
    case 'double':
      return readFloat;
    case 'bytes':
      return (value, path) => bytesOf(value) ?? refuseValue(path, 'must be bytes', value);
    case 'string':
      return (value, path) =>
        typeof value === 'string' && value.isWellFormed()
          ? value
          : refuseValue(path, typeof value === 'string' ? 'must be well-formed Unicode' : 'must be a string', value);
  }
  if (isFixed(type)) {
    return (value, path) => {
      const bytes = bytesOf(value);
      return bytes?.length === type.size ? bytes : refuseValue(path, `must be ${type.size} bytes`, value);
    };
  }
  if (isEnum(type)) {
    const { default: standIn } = type as { readonly default?: string };
    return (value, path) => {
      if (typeof value === 'string' && type.symbols.includes(value)) return value;
      // The symbol of a newer schema, which its default stands in for as it does in binary Avro.
      if (typeof value === 'string' && standIn !== undefined && !isDatum) return standIn;
      return refuseValue(path, 'must be a symbol of its enum', value);
    };
  }
  throw new TypeError(`Avro schema: type ${type.typeName} is not known`);
}

function integerReader(bits: number): AvroReader {
  const limit = 2n ** BigInt(bits - 1);
  return (value, path) => {
    const isNumber = typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberText;
    const integer = isNumber ? integerOf(value) : undefined;
    if (integer !== undefined && integer >= -limit && integer < limit) return integer;
    return refuseValue(path, `must be a ${bits}-bit integer`, value);
  };
}

const integerReader32 = integerReader(32);

function readFloat(value: FieldValue | undefined, path: string): FieldValue {
  if (typeof value === 'number') return value;
  const number = value instanceof NumberText ? Number(value.text) : Number.NaN;
  return Number.isFinite(number) ? number : refuseValue(path, 'must be a number', value);
}

/** Avro's JSON encoding spells a byte as the character of that code point, up to U+00FF. */
function bytesOf(value: FieldValue | undefined): Buffer | undefined {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value, 'latin1');
  return bytes.toString('latin1') === value ? bytes : undefined;
}

const NANOS_PER_DAY = 86_400_000_000_000n;

function logicalValue(logical: LogicalKind, value: FieldValue, path: string): FieldValue {
  if (logical.kind === 'decimal') {
    if (!Buffer.isBuffer(value) || value.length === 0) return refuseValue(path, 'must have a byte at least', value);
    const unscaled = BigInt.asIntN(value.length * 8, BigInt(`0x${value.toString('hex')}`));
    return new NumberText(formatDecimal({ unscaled, scale: logical.scale }));
  }
  if (typeof value !== 'bigint') return value;
  switch (logical.kind) {
    case 'instant':
      // A local time has no zone: it is read as if its clock showed UTC, as the page of serializers says.
      return new Instant(value * NANOS[logical.unit]);
    case 'date':
      return formatDate(Number(value));
    case 'time': {
      const nanos = value * NANOS[logical.unit];
      if (nanos < 0n || nanos >= NANOS_PER_DAY)
        return refuseValue(path, 'must be a time of day, below 24 hours', value);
      // A count alone would be taken for milliseconds later; ISO text says what it is.
      return formatInstant(nanos).slice('1970-01-01T'.length, -1);
    }
  }
}
