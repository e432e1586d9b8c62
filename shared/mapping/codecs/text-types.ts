import { type FieldValue, refuseValue } from '../values/field-value.ts';
import { expectLength, parseBase64, utf8Text, wellFormedText } from './bytes.ts';
import type { Scalar } from './scalar.ts';

export const stringScalar: Scalar<string> = {
  check: wellFormedText,
  toBytes: (text) => Buffer.from(text, 'utf8'),
  fromBytes: utf8Text,
  toText: (text) => text,
  fromText: wellFormedText,
  toValue: (text) => text,
};

/** Bytes; a format without bytes of its own (JSON) spells them in canonical Base64. */
export const bytesScalar: Scalar<Buffer> = {
  check: checkBytes,
  toBytes: (bytes) => bytes,
  fromBytes: (bytes) => bytes,
  toText: (bytes) => bytes.toString('base64'),
  fromText: checkBytes,
  toValue: (bytes) => bytes,
};

function checkBytes(value: FieldValue, path: string): Buffer {
  if (Buffer.isBuffer(value)) return value;
  const rule = 'must be bytes or canonical padded Base64 text';
  return (typeof value === 'string' ? parseBase64(value) : undefined) ?? refuseValue(path, rule, value);
}

/** What the field holds, as it came: bytes as they are, text as UTF-8. */
export const rawScalar: Scalar<Buffer> = {
  ...bytesScalar,
  check: checkRaw,
  toText: (bytes) => utf8Text(bytes, 'raw value'),
  fromText: checkRaw,
};

function checkRaw(value: FieldValue, path: string): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value !== 'string') return refuseValue(path, 'must be bytes or a text', value);
  return Buffer.from(wellFormedText(value, path), 'utf8');
}

const FALSE = 0x00;
/** Shared by all cells: bytes of a mutation are never written to. */
const TRUE_BYTES = Buffer.of(0xff);
const FALSE_BYTES = Buffer.of(FALSE);

/** One byte, FF or 00; any byte but 00 reads as true. */
export const booleanScalar: Scalar<boolean> = {
  check: (value, path) => (typeof value === 'boolean' ? value : refuseValue(path, 'must be a boolean', value)),
  toBytes: (value) => (value ? TRUE_BYTES : FALSE_BYTES),
  fromBytes: (bytes, path) => {
    expectLength(bytes, 1, path);
    return bytes[0] !== FALSE;
  },
  toText: String,
  fromText: (text, path) =>
    text === 'true' || (text === 'false' ? false : refuseValue(path, 'must be "true" or "false"', text)),
  toValue: (value) => value,
};
