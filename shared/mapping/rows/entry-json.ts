import { RecordError } from '../../base/errors.ts';
import { bytesOfBase64 } from '../../model/bytes.ts';
import type { SerializerContext } from '../context.ts';
import { int64OfJson } from '../../model/int64.ts';
import type { AggregateValue, Mutation, RowEntry } from '../../model/mutation.ts';

/**
 * Reads an entry written as proto JSON: bytes are base64, int64 are decimal strings (or safe integers), names are
 * camelCase or the .proto's snake_case. Strict, unlike the generated readers: an unknown or misspelled field is an
 * error, because dropped silently it would write a different row. A cell without a time takes the publish time: proto
 * JSON shows the absence that proto bytes do not. Pure.
 */
export function entryFromJson(json: unknown, { publishTimeMicros }: SerializerContext): RowEntry {
  const entry = fieldsOf(json, 'entry', ['rowKey', 'mutations']);
  const mutations = entry.mutations;
  if (!Array.isArray(mutations) || mutations.length === 0) {
    throw new RecordError('entry.mutations: must be an array with at least one mutation');
  }
  return {
    rowKey: bytesAt(entry, 'rowKey', 'entry'),
    mutations: mutations.map((mutation, index) =>
      mutationFromJson(mutation, `entry.mutations[${index}]`, publishTimeMicros),
    ),
  };
}

const KINDS = ['setCell', 'addToCell', 'mergeToCell', 'deleteFromColumn', 'deleteFromFamily', 'deleteFromRow'] as const;

function mutationFromJson(json: unknown, path: string, publishTimeMicros: bigint): Mutation {
  const wrapper = fieldsOf(json, path, KINDS);
  const kinds = KINDS.filter((kind) => wrapper[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw new RecordError(`${path}: must name exactly one of ${KINDS.join(', ')}`);
  const at = `${path}.${kind}`;
  const body = wrapper[kind];
  switch (kind) {
    case 'setCell': {
      const fields = fieldsOf(body, at, ['familyName', 'columnQualifier', 'timestampMicros', 'value']);
      return {
        kind,
        family: textAt(fields, 'familyName', at),
        qualifier: bytesAt(fields, 'columnQualifier', at),
        timestampMicros: int64At(fields, 'timestampMicros', at) ?? publishTimeMicros,
        value: bytesAt(fields, 'value', at),
      };
    }
    case 'addToCell':
    case 'mergeToCell': {
      const fields = fieldsOf(body, at, ['familyName', 'columnQualifier', 'timestamp', 'input']);
      const qualifier = valueOf(fields.columnQualifier, `${at}.columnQualifier`, 'rawValue');
      const timestamp = valueOf(fields.timestamp, `${at}.timestamp`, 'rawTimestampMicros');
      return {
        kind,
        family: textAt(fields, 'familyName', at),
        qualifier: bytesAt(qualifier, 'rawValue', `${at}.columnQualifier`),
        timestampMicros: int64At(timestamp, 'rawTimestampMicros', `${at}.timestamp`) ?? 0n,
        input: inputFromJson(fields.input, `${at}.input`),
      };
    }
    case 'deleteFromColumn': {
      const fields = fieldsOf(body, at, ['familyName', 'columnQualifier', 'timeRange']);
      const range = fieldsOf(fields.timeRange ?? {}, `${at}.timeRange`, ['startTimestampMicros', 'endTimestampMicros']);
      const start = int64At(range, 'startTimestampMicros', `${at}.timeRange`) ?? 0n;
      const end = int64At(range, 'endTimestampMicros', `${at}.timeRange`) ?? 0n;
      return {
        kind,
        family: textAt(fields, 'familyName', at),
        qualifier: bytesAt(fields, 'columnQualifier', at),
        ...(start !== 0n && { startTimestampMicros: start }),
        ...(end !== 0n && { endTimestampMicros: end }),
      };
    }
    case 'deleteFromFamily':
      return { kind, family: textAt(fieldsOf(body, at, ['familyName']), 'familyName', at) };
    case 'deleteFromRow':
      fieldsOf(body, at, []);
      return { kind };
    default:
      return kind satisfies never;
  }
}

function inputFromJson(json: unknown, path: string): AggregateValue {
  const fields = fieldsOf(json, path, ['rawValue', 'bytesValue', 'intValue']);
  const int64 = int64At(fields, 'intValue', path);
  if (Object.keys(fields).length !== 1)
    throw new RecordError(`${path}: must be exactly one of rawValue, bytesValue, intValue`);
  if (int64 !== undefined) return { kind: 'int64', value: int64 };
  return fields.rawValue === undefined
    ? { kind: 'bytes', value: bytesAt(fields, 'bytesValue', path) }
    : { kind: 'raw', value: bytesAt(fields, 'rawValue', path) };
}

type Fields = Readonly<Record<string, unknown>>;

/** An object with no other fields than these, under their camelCase names. */
function fieldsOf(json: unknown, path: string, allowed: readonly string[]): Fields {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new RecordError(`${path}: must be an object`);
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(json)) {
    const camelCase = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (!allowed.includes(camelCase)) {
      throw new RecordError(`${path}: has a field it does not know; it takes ${allowed.join(', ') || 'none'}`);
    }
    if (camelCase in fields) throw new RecordError(`${path}.${camelCase}: is given twice`);
    // Proto JSON writes a field that is not set as null.
    if (value !== null) fields[camelCase] = value;
  }
  return fields;
}

/** A `Value` of this one kind. Without it the value has no type, and the entry would be another one than as bytes. */
function valueOf(json: unknown, path: string, kind: string): Fields {
  const fields = fieldsOf(json, path, [kind]);
  if (fields[kind] === undefined) throw new RecordError(`${path}: must have ${kind}`);
  return fields;
}

function textAt(fields: Fields, name: string, path: string): string {
  const value = fields[name] ?? '';
  if (typeof value !== 'string') throw new RecordError(`${path}.${name}: must be a string`);
  return value;
}

/** Standard and URL-safe alphabets, padded or not, as proto JSON allows. */
function bytesAt(fields: Fields, name: string, path: string): Buffer {
  const value = fields[name] ?? '';
  const bytes = typeof value === 'string' ? bytesOfBase64(value) : undefined;
  if (bytes === undefined) throw new RecordError(`${path}.${name}: must be base64`);
  return bytes;
}

function int64At(fields: Fields, name: string, path: string): bigint | undefined {
  if (fields[name] === undefined) return undefined;
  const value = int64OfJson(fields[name]);
  if (value !== undefined) return value;
  throw new RecordError(`${path}.${name}: must be a 64-bit integer; write it as a string where it is above 2^53`);
}
