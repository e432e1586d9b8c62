/**
 * Byte strings as Bigtable orders and people read them. Order is always `Buffer.compare`: unsigned, lexicographic.
 */

/** Order of two row keys or qualifiers: negative, zero or positive, as Bigtable sorts them. */
export const compareBytes = (left: Uint8Array, right: Uint8Array): number => Buffer.compare(left, right);

/**
 * Renders bytes for a person: printable ASCII as it is, everything else as `\xNN`, cut after `maxBytes` (default 64).
 * Only for errors that exist to name a row; routine logs carry no row data.
 */
export function printableBytes(bytes: Uint8Array, maxBytes = 64): string {
  let text = '';
  for (const byte of bytes.subarray(0, maxBytes)) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return bytes.length > maxBytes ? `${text}… (${bytes.length} bytes)` : text;
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * The bytes of a base64 text, in the standard or the URL-safe alphabet, padded or not; undefined when it is none. The
 * platform's decoder drops what it cannot read, so the lengths that no bytes have are refused here.
 */
export function bytesOfBase64(text: string): Buffer | undefined {
  return BASE64.test(text) && hasBase64Length(text) ? Buffer.from(text, 'base64') : undefined;
}

function hasBase64Length(text: string): boolean {
  const padding = text.indexOf('=');
  // Padding fills the last group of four and is never a whole group; a group of one character is less than a byte.
  return padding === -1 ? text.length % 4 !== 1 : text.length % 4 === 0 && padding % 4 >= 2;
}
