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
