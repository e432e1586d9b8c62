/**
 * Exact bytes as the RE2 patterns that Bigtable's filters take, both ways. Pure.
 *
 * A letter, digit or underscore stands for itself, and so does a byte from 0x80 on: the service reads patterns byte by
 * byte. NUL, which a backslash does not quote, is `\x00`; any other byte is quoted by a backslash (the rule of RE2's own
 * `QuoteMeta`, https://github.com/google/re2/blob/main/re2/re2.cc).
 */

const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;
const NUL_PATTERN = Buffer.from(String.raw`\x00`);

/** The pattern that matches these bytes and no others. */
export function patternOf(bytes: Buffer): Buffer {
  let length = 0;
  for (const byte of bytes) length += widthOf(byte);
  if (length === bytes.length) return bytes;
  const pattern = Buffer.allocUnsafe(length);
  let at = 0;
  for (const byte of bytes) {
    if (byte === 0) at += NUL_PATTERN.copy(pattern, at);
    else {
      if (!isPlain(byte)) pattern[at++] = BACKSLASH;
      pattern[at++] = byte;
    }
  }
  return pattern;
}

/** The pattern that matches this family name and no other. Nearly every name is its own pattern. */
export const familyPattern = (family: string): string =>
  /^\w*$/.test(family) ? family : patternOf(Buffer.from(family)).toString();

/**
 * The pattern that matches every family name but this one, without look-ahead, which RE2 does not have: at each byte
 * either another one and then anything, or this one and then the same of the rest, or the name's end. It grows with the
 * name by nine characters a byte. Groups are plain, because a family pattern may hold no colon.
 *
 * @param family not empty.
 */
export function otherFamiliesPattern(family: string): string {
  const bytes = [...Buffer.from(family)].map(escapedAscii);
  const last = bytes.length - 1;
  return bytes.reduceRight((rest, byte, at) => `[^${byte}].*|${byte}${at === last ? '.+' : `(${rest})?`}`, '');
}

/** The byte inside or outside of brackets. A text cannot hold half of a character, so that bytes from 0x80 on are named. */
function escapedAscii(byte: number): string {
  if (byte >= 0x80 || byte === 0) return `\\x${byte.toString(16).padStart(2, '0')}`;
  return isPlain(byte) ? String.fromCharCode(byte) : `\\${String.fromCharCode(byte)}`;
}

const widthOf = (byte: number): number => {
  if (byte === 0) return NUL_PATTERN.length;
  return isPlain(byte) ? 1 : 2;
};

const isPlain = (byte: number): boolean =>
  byte >= 0x80 ||
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x30 && byte <= 0x39) ||
  byte === UNDERSCORE;

/**
 * The bytes that a pattern matches, when it matches only one text; undefined when it holds an operator, or an escape
 * that stands for no byte of its own.
 */
export function exactBytesOf(pattern: Buffer): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(pattern.length);
  let length = 0;
  let at = 0;
  while (at < pattern.length) {
    const byte = pattern[at] as number;
    if (byte !== BACKSLASH) {
      if (OPERATORS.has(byte)) return undefined;
      bytes[length++] = byte;
      at += 1;
      continue;
    }
    const escaped = escapedByte(pattern, at + 1);
    if (!escaped) return undefined;
    bytes[length++] = escaped.byte;
    at = escaped.end;
  }
  return bytes.subarray(0, length);
}

const OPERATORS = new Set(Buffer.from('.*+?()|[]{}^$'));
const HEX = /^x([0-9A-Fa-f]{2})/;

/** The byte that an escape stands for: `\xNN`, or a quoted byte that is no letter or digit. */
function escapedByte(pattern: Buffer, at: number): { readonly byte: number; readonly end: number } | undefined {
  const hex = HEX.exec(pattern.toString('latin1', at, at + 3));
  if (hex) return { byte: Number.parseInt(hex[1] as string, 16), end: at + 3 };
  const byte = pattern[at];
  const isQuoted = byte !== undefined && byte < 0x80 && (byte === UNDERSCORE || !isPlain(byte));
  return isQuoted ? { byte, end: at + 1 } : undefined;
}
