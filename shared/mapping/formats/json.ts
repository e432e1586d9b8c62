import { isUtf8 } from 'node:buffer';
import { RecordError } from '../../base/errors.ts';
import type { FieldValue } from '../values/field-value.ts';
import { type MarkedTree, parseMarked, positionOfError, unmark } from './json-text.ts';
import type { RecordDecoder } from './record-decoder.ts';

/** JSON records: any JSON value, in UTF-8, without loss. */
export const jsonDecoder: RecordDecoder = { decode: ({ data }) => decodeMarked(data), settle: unmark };

/** The whole tree of a JSON record at once, for formats whose JSON form is read against a schema. */
export const decodeJson = (data: Buffer): FieldValue => unmark(decodeMarked(data));

function decodeMarked(data: Buffer): MarkedTree {
  // A lenient decoder would put replacement characters where the publisher's bytes were.
  if (!isUtf8(data)) throw new RecordError(`record: must be JSON in UTF-8, got ${encodingOf(data) ?? 'other bytes'}`);
  const text = data.toString('utf8');
  try {
    return parseMarked(text);
  } catch (error) {
    if (error instanceof RecordError) throw error;
    const seen = encodingOf(data);
    if (seen !== undefined) throw new RecordError(`record: must be JSON in UTF-8, got ${seen}`);
    // The parser's own error quotes the text, so only its position is kept.
    const position = positionOfError(text, error);
    throw new RecordError(
      `record: must be JSON, got other text${position === undefined ? '' : ` at position ${position}`}`,
    );
  }
}

/** What the first bytes of a record show that is no JSON in UTF-8; undefined when they show nothing. */
export function encodingOf(data: Buffer): string | undefined {
  const start = data.toString('latin1', 0, 3);
  if (start === '\u00ef\u00bb\u00bf') return 'a byte order mark before the JSON';
  // JSON starts with an ASCII character, whose other byte is zero in UTF-16.
  const isUtf16 =
    start.startsWith('\u00ff\u00fe') || start.startsWith('\u00fe\u00ff') || start.slice(0, 2).includes('\0');
  return isUtf16 ? 'UTF-16' : undefined;
}
