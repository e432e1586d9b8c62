import { RecordError } from '../../base/errors.ts';
import { type FieldValue, Instant, NumberText } from '../values/field-value.ts';
import { parseJson } from '../formats/json-text.ts';
import { formatInstant } from '../values/time.ts';
import { utf8Text, wellFormedText } from './bytes.ts';
import type { Scalar } from './scalar.ts';

/** Compact JSON of whatever the field holds. Numbers keep their digits, bytes are Base64, instants are RFC 3339. */
export const jsonScalar: Scalar<string> = {
  check: jsonText,
  toBytes: (text) => Buffer.from(text, 'utf8'),
  fromBytes: (bytes, path) => jsonText(parse(utf8Text(bytes, path), path), path),
  toText: (text) => text,
  fromText: (text, path) => jsonText(parse(text, path), path),
  toValue: (text) => parse(text, 'value'),
};

function parse(text: string, path: string): FieldValue {
  try {
    return parseJson(text);
  } catch {
    // The parser's own message quotes the text, so it is not kept as a cause.
    throw new RecordError(`${path}: must be JSON, got other text`);
  }
}

function jsonText(value: FieldValue, path: string): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(wellFormedText(value, path));
  if (value instanceof NumberText) return value.text;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') {
    // Like Protobuf's JSON form: what JSON cannot say as a number is said as a text.
    return Number.isFinite(value) ? String(value) : `"${value}"`;
  }
  if (value instanceof Instant) return `"${formatInstant(value.nanos)}"`;
  if (Buffer.isBuffer(value)) return `"${value.toString('base64')}"`;
  if (isList(value)) return `[${value.map((item, at) => jsonText(item, `${path}.${at}`)).join(',')}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(wellFormedText(name, path))}:${jsonText(member, `${path}.${name}`)}`,
  );
  return `{${members.join(',')}}`;
}

const isList = (value: FieldValue): value is readonly FieldValue[] => Array.isArray(value);
