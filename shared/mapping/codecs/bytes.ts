import { RecordError } from '../../base/errors.ts';
import { type FieldValue, refuseValue } from '../values/field-value.ts';

/** Refuses bytes that are not of the type's fixed width. */
export function expectLength(bytes: Buffer, length: number, path: string): void {
  if (bytes.length === length) return;
  throw new RecordError(`${path}: must be ${length} ${length === 1 ? 'byte' : 'bytes'}, got ${bytes.length}`);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of UTF-8 bytes; other bytes are refused rather than replaced. */
export function utf8Text(bytes: Buffer, path: string): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new RecordError(`${path}: must be UTF-8, got other bytes`, { cause });
  }
}

/**
 * A text with a lone surrogate has no UTF-8 form: encoders put a replacement character in its place, and two texts
 * become one. So it is refused.
 */
export function wellFormedText(value: FieldValue, path: string): string {
  if (typeof value !== 'string') return refuseValue(path, 'must be a text', value);
  return value.isWellFormed() ? value : refuseValue(path, 'must be well-formed Unicode', value);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Bytes of canonical padded Base64; undefined for any other spelling, which a lenient decoder would take silently. */
export function parseBase64(text: string): Buffer | undefined {
  if (!BASE64.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
