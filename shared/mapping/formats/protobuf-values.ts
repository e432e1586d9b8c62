import protobuf from 'protobufjs';
import { RecordError } from '../../base/errors.ts';
import { formatDecimal } from '../values/decimal.ts';
import { type FieldObject, type FieldValue, Instant, NumberText } from '../values/field-value.ts';

/** A message, or a part of one, as the library holds it: its fields are properties. */
type Held = Readonly<Record<string, unknown>>;

const NANOS_PER_SECOND = 1_000_000_000n;
const NANO_PLACES = 9;

/**
 * The fields of a message by their names in the .proto file. A field with presence that is not set is null; one
 * without presence is its default. Enums are names, int64 is bigint, timestamps are instants, durations are seconds.
 */
export function messageValue(type: protobuf.Type, decoded: object): FieldValue {
  const message = decoded as Held;
  const wellKnown = WELL_KNOWN[type.fullName];
  if (wellKnown) return wellKnown(message);
  return Object.fromEntries(type.fieldsArray.map((field) => [field.name, fieldValue(field, message)]));
}

function fieldValue(field: protobuf.Field, message: Held): FieldValue {
  const isSet = Object.hasOwn(message, field.name) && message[field.name] !== null;
  const value = message[field.name];
  if (field.map) {
    const entries = isSet ? Object.entries(value as Held) : [];
    const name = entryName(field);
    return Object.fromEntries(entries.map(([key, member]) => [name(key), oneValue(field, member)]));
  }
  if (field.repeated) return isSet ? (value as readonly unknown[]).map((item) => oneValue(field, item)) : [];
  const hasPresence = field.hasPresence || field.resolvedType instanceof protobuf.Type;
  if (!isSet && hasPresence) return null;
  return oneValue(field, isSet ? value : field.defaultValue);
}

/** The library keeps 64-bit keys of a map as eight characters that hash them. */
function entryName(field: protobuf.Field): (key: string) => string {
  const keyType = field instanceof protobuf.MapField ? field.keyType : 'string';
  if (!(keyType in protobuf.types.long)) return (key) => key;
  const isUnsigned = keyType.startsWith('u') || keyType === 'fixed64';
  return (key) => integerValue(protobuf.util.longFromHash(key, isUnsigned)).toString();
}

function oneValue({ type, resolvedType }: protobuf.Field, value: unknown): FieldValue {
  if (resolvedType instanceof protobuf.Type) return messageValue(resolvedType, value as Held);
  if (resolvedType instanceof protobuf.Enum) return enumValue(resolvedType, Number(value));
  if (type === 'bytes') return bytesValue(value);
  return type in protobuf.types.long ? integerValue(value) : (value as boolean | number | string);
}

/** The name of a number; the number itself where the schema has no name for it (a newer publisher's). */
function enumValue({ valuesById }: protobuf.Enum, value: number): FieldValue {
  return Object.hasOwn(valuesById, value) ? (valuesById[value] ?? value) : value;
}

function bytesValue(value: unknown): Buffer {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.alloc(0);
}

/** The library holds 64-bit integers in two halves. */
function integerValue(value: unknown): bigint {
  if (typeof value === 'number' || typeof value === 'string') return BigInt(value);
  const { low, high, unsigned } = value as { low: number; high: number; unsigned: boolean };
  const bits = (BigInt(high) << 32n) | BigInt(low >>> 0);
  return unsigned ? BigInt.asUintN(64, bits) : BigInt.asIntN(64, bits);
}

const member = (name: string, message: Held): unknown => message[name];

/** The two parts of a Timestamp or a Duration, which say one thing together only while the second is below a second. */
function nanosOf(message: Held, name: 'Timestamp' | 'Duration'): bigint {
  const seconds = integerValue(member('seconds', message) ?? 0);
  const nanos = BigInt(Number(member('nanos', message) ?? 0));
  const isBelow = nanos < NANOS_PER_SECOND && nanos > -NANOS_PER_SECOND;
  const isRight = isBelow && (name === 'Timestamp' ? nanos >= 0n : seconds * nanos >= 0n);
  if (isRight) return seconds * NANOS_PER_SECOND + nanos;
  const sign = name === 'Duration' ? ' and the sign of its seconds' : ', none negative';
  throw new RecordError(`google.protobuf.${name}: must have nanos below a second${sign}, got ${nanos}`);
}

/** Google's messages that stand for one value. */
const WELL_KNOWN: Readonly<Record<string, (message: Held) => FieldValue>> = {
  '.google.protobuf.Timestamp': (message) => new Instant(nanosOf(message, 'Timestamp')),
  '.google.protobuf.Duration': (message) =>
    new NumberText(formatDecimal({ unscaled: nanosOf(message, 'Duration'), scale: NANO_PLACES })),
  '.google.protobuf.DoubleValue': (message) => Number(member('value', message) ?? 0),
  '.google.protobuf.FloatValue': (message) => Number(member('value', message) ?? 0),
  '.google.protobuf.Int64Value': (message) => integerValue(member('value', message) ?? 0),
  '.google.protobuf.UInt64Value': (message) => integerValue(member('value', message) ?? 0),
  '.google.protobuf.Int32Value': (message) => Number(member('value', message) ?? 0),
  '.google.protobuf.UInt32Value': (message) => Number(member('value', message) ?? 0),
  '.google.protobuf.BoolValue': (message) => Boolean(member('value', message)),
  '.google.protobuf.StringValue': (message) => (member('value', message) ?? '') as string,
  '.google.protobuf.BytesValue': (message) => bytesValue(member('value', message)),
  '.google.protobuf.Struct': structValue,
  '.google.protobuf.ListValue': listValue,
  '.google.protobuf.Value': dynamicValue,
};

function structValue(message: Held): FieldObject {
  const fields = (member('fields', message) ?? {}) as Readonly<Record<string, Held>>;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, dynamicValue(value)]));
}

function listValue(message: Held): readonly FieldValue[] {
  return ((member('values', message) ?? []) as readonly Held[]).map(dynamicValue);
}

/** A `Value` has exactly one of its fields set. */
function dynamicValue(message: Held): FieldValue {
  if (Object.hasOwn(message, 'structValue')) return structValue(message.structValue as Held);
  if (Object.hasOwn(message, 'listValue')) return listValue(message.listValue as Held);
  for (const name of ['stringValue', 'numberValue', 'boolValue']) {
    if (Object.hasOwn(message, name)) return message[name] as string | number | boolean;
  }
  return null;
}
