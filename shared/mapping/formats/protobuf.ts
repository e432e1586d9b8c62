import protobuf from 'protobufjs';
import protojson from 'protobufjs/ext/protojson.js';
import { RecordError } from '../../base/errors.ts';
import { parseMessage } from './protobuf-schema.ts';
import type { ResolvedFormat } from '../declared/resolved.ts';
import { integerOf } from '../values/decimal.ts';
import { type FieldValue, isFieldObject, NumberText } from '../values/field-value.ts';
import { decodeJson } from './json.ts';
import { messageValue } from './protobuf-values.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { schemaOfMessage } from './schema-attributes.ts';

type ProtobufFormat = Extract<ResolvedFormat, { type: 'avro' | 'protobuf' }>;

/** Protobuf records, binary or in ProtoJSON. A record of a listed revision is decoded with that revision's schema. */
export function protobufDecoder(format: ProtobufFormat): RecordDecoder {
  protojson.install();
  const schema = parseMessage(format.schema, format.message);
  const revisions = new Map(
    Object.entries(format.revisions).map(([id, text]) => [id, parseMessage(text, format.message)]),
  );
  return {
    settle: (value) => value,
    decode: ({ data, message }) => {
      const { encoding, revision } = schemaOfMessage(message, format);
      const type = (revision === undefined ? undefined : revisions.get(revision)) ?? schema;
      return messageValue(type, encoding === 'json' ? decodeProtoJson(type, data) : decodeBinary(type, data));
    },
  };
}

function decodeBinary(type: protobuf.Type, data: Buffer): object {
  try {
    return type.decode(data);
  } catch (cause) {
    // The library's errors speak of positions and wire types, not of values.
    const seen = isOfEncoding(cause) ? 'a text that is not UTF-8' : 'other bytes';
    throw new RecordError(`record: must be a binary ${type.fullName.slice(1)}, got ${seen}`, { cause });
  }
}

const isOfEncoding = (error: unknown): boolean =>
  error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA';

function decodeProtoJson(type: protobuf.Type, data: Buffer): object {
  const tree = plainTree(decodeJson(data), type);
  try {
    // Through the wire, because the library holds 64-bit map keys differently after its two ways of reading.
    return type.decode(type.encode(type.fromJson(tree)).finish());
  } catch (error) {
    throw new RecordError(`record: must be ProtoJSON of ${type.fullName.slice(1)}${ruleOf(error)}`);
  }
}

/**
 * The place and the rule of the library's error. The value that it quotes stays behind, and so does the error itself.
 */
function ruleOf(error: unknown): string {
  const match = error instanceof Error ? /^\.([\w.]+): ([a-z0-9 ]+)/i.exec(error.message) : null;
  return match ? `; ${match[1] ?? ''}: ${match[2] ?? ''}` : ', got another tree';
}

/**
 * The tree with numbers as the library takes them: a double where that is exact or all the type can hold, a text for
 * integers that need all their digits, which ProtoJSON writes as texts anyway.
 */
function plainTree(value: FieldValue, type: protobuf.Type | undefined): unknown {
  if (value instanceof NumberText) return type && ANY_VALUE.has(type.fullName) ? doubleOf(value) : numberOf(value);
  if (Array.isArray(value)) return (value as readonly FieldValue[]).map((item) => plainTree(item, type));
  if (!isFieldObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainMember(name, member, type)]));
}

/** Messages of any JSON: a text in them stays a text, so a number is never written as one. */
const ANY_VALUE = new Set(['Struct', 'Value', 'ListValue'].map((name) => `.google.protobuf.${name}`));

function plainMember(name: string, value: FieldValue, type: protobuf.Type | undefined): unknown {
  if (!type || ANY_VALUE.has(type.fullName)) return plainTree(value, type);
  const field = type.fieldsArray.find((one) => one.name === name || protobuf.util.jsonName(one.name) === name);
  const { resolvedType = null } = field?.resolve() ?? {};
  const inner = resolvedType instanceof protobuf.Type ? resolvedType : undefined;
  if (!field?.map || !isFieldObject(value)) return plainTree(value, inner);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plainTree(member, inner)]));
}

/** Numbers in such a message are doubles, and the nearest is taken, as everywhere with floats. */
function doubleOf({ text }: NumberText): number {
  const number = Number(text);
  if (Number.isFinite(number)) return number;
  throw new RecordError('record: must hold in a google.protobuf.Struct what a double can, got a larger number');
}

/**
 * An integer goes on by its digits, however it was spelt: `9007199254740993.0` is one. So does a number that no double
 * can hold, as its text: the library refuses it, and knows where it stands.
 */
function numberOf(value: NumberText): number | string {
  const number = Number(value.text);
  if (!Number.isFinite(number)) return value.text;
  // A double keeps the sign of zero.
  if (number === 0) return number;
  return integerOf(value)?.toString() ?? number;
}
