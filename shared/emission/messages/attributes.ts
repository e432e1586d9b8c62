import { isUtf8 } from 'node:buffer';
import { sha256 } from './ordering-key.ts';
import { MAX_VALUE_BYTES } from './limits.ts';

/** The attributes that emission sets. Pure data: the tables of the documentation are held to it. */
export const EMISSION_ATTRIBUTES = {
  rowKey: { name: 'row-key', meaning: 'the row key, where it is UTF-8 of at most 1,024 bytes' },
  rowKeyBase64: { name: 'row-key-base64', meaning: 'the row key in base64, where it is not UTF-8 and so fits' },
  rowKeyDigest: { name: 'row-key-sha256', meaning: 'the SHA-256 of a row key that is longer, in hex' },
  records: { name: 'records', meaning: 'the number of records in a packed message' },
  part: { name: 'part', meaning: 'the number of this part, from 1, of a message that was too large' },
  parts: { name: 'parts', meaning: 'the number of parts that the message has' },
  partOf: {
    name: 'part-of',
    meaning: 'the SHA-256 of all its parts together, in hex: the same for every part and at every repetition',
  },
} as const;

/** The attribute that names a row. */
export function rowKeyAttribute(rowKey: Buffer): Readonly<Record<string, string>> {
  if (rowKey.length <= MAX_VALUE_BYTES) {
    if (isUtf8(rowKey)) return { [EMISSION_ATTRIBUTES.rowKey.name]: rowKey.toString('utf8') };
    const text = rowKey.toString('base64');
    if (text.length <= MAX_VALUE_BYTES) return { [EMISSION_ATTRIBUTES.rowKeyBase64.name]: text };
  }
  return { [EMISSION_ATTRIBUTES.rowKeyDigest.name]: sha256(rowKey) };
}
