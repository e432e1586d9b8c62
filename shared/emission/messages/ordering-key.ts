import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { MAX_VALUE_BYTES } from './limits.ts';

/** By which key the messages of a row are ordered: none, each row's own, or that of one of so many groups of rows. */
export type OrderingKeys = 'none' | 'row' | number;

/**
 * The ordering key of a row's messages. Pure, and the same in every process and version: rows of one key arrive in the
 * order in which they were published.
 *
 * - a number of groups: `group-17`, by a hash of the row key;
 * - `row`: the row key as text; as base64 where it is not UTF-8; its SHA-256 in hex where that has more than 1,024 bytes.
 */
export function orderingKeyOf(keys: OrderingKeys): (rowKey: Buffer) => string | undefined {
  if (keys === 'none') return () => undefined;
  if (keys === 'row') return rowOrderingKey;
  const names = Array.from({ length: keys }, (_, group) => `group-${group}`);
  return (rowKey) => names[groupOf(rowKey, keys)];
}

/** The group, from 0, that a row belongs to. */
export const groupOf = (rowKey: Buffer, groups: number): number => hash(rowKey) % groups;

function rowOrderingKey(rowKey: Buffer): string {
  if (rowKey.length <= MAX_VALUE_BYTES) {
    if (isUtf8(rowKey)) return rowKey.toString('utf8');
    const text = rowKey.toString('base64');
    if (text.length <= MAX_VALUE_BYTES) return text;
  }
  return sha256(rowKey);
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** FNV-1a of 32 bits, stirred once more, because keys often differ in their last bytes alone. */
function hash(bytes: Buffer): number {
  let state = 0x811c9dc5;
  const { length } = bytes;
  let at = 0;
  // An iterator of bytes would cost three times as much.
  while (at < length) state = Math.imul(state ^ (bytes[at++] as number), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}
