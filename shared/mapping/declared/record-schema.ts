import avro from 'avsc';
import { isArray, isMap, isRecord, isUnion, valuesOf } from './avro-kinds.ts';
import { parseMessage, protobufHas } from './protobuf-schema.ts';

/**
 * The schemas of Avro and Protobuf as the configuration needs them: whether the text is one, and which paths its
 * records have. A misspelt path is then found before the first record.
 */
export interface RecordSchema {
  /** Whether records of this schema can have something at the path. */
  readonly has: (path: readonly string[]) => boolean;
  /** Protobuf: the full name of the record's message. */
  readonly message?: string;
}

/** Reads a schema. Throws an `Error` whose message says what is wrong with the text. */
export function readRecordSchema(type: 'avro' | 'protobuf', text: string, message?: string): RecordSchema {
  if (type === 'avro') return readAvro(text);
  const parsed = parseMessage(text, message);
  return { has: (path) => protobufHas(parsed, path), message: parsed.fullName.slice(1) };
}

function readAvro(text: string): RecordSchema {
  const type = avro.Type.forSchema(JSON.parse(text) as avro.Schema, { wrapUnions: 'always' });
  if (!isRecord(type)) throw new Error('the outermost type must be a record');
  return { has: (path) => avroHas(type, path) };
}

const INDEX = /^(?:0|[1-9]\d*)$/;

function avroHas(type: avro.Type, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (isUnion(type)) return type.types.some((branch) => avroHas(branch, [name, ...rest]));
  if (isMap(type)) return avroHas(valuesOf(type), rest);
  if (isArray(type)) return INDEX.test(name) && avroHas(type.itemsType, rest);
  const field = isRecord(type) ? type.fields.find((candidate) => candidate.name === name) : undefined;
  return field !== undefined && avroHas(field.type, rest);
}
