import { isUtf8 } from 'node:buffer';
import { RecordError } from '../base/errors.ts';
import { encodingOf } from './formats/json.ts';
import { parsePlain } from './formats/json-text.ts';
import { entryFromJson } from './rows/entry-json.ts';
import { decodeEntry } from './rows/entry-wire.ts';
import type { Serializer } from './serializer.ts';

/** `{`, the start of the JSON form. No proto bytes start with it: it would be the start of a group, which Entry has not. */
const OPEN_BRACE = 0x7b;

/** Bytes that no tag of the proto form starts with, and the marks of UTF-8 and UTF-16 do. */
const startsLikeText = ([first = 1]: Buffer): boolean => first === 0 || first >= 0xef;

/**
 * The serializer for records that are entries already: `google.bigtable.v2.MutateRowsRequest.Entry` as proto bytes or
 * as proto JSON, told apart by their first byte. A cell of the JSON form that names no time takes the publish time; in
 * bytes no time is the time 0, the epoch. A dead letter is one, so it can be published back as it is.
 */
export const entrySerializer: Serializer = {
  serialize: ({ data }, context) => {
    const isJson = data[0] === OPEN_BRACE;
    // A lenient decoder would put replacement characters where the publisher's bytes were.
    if (isJson && !isUtf8(data)) throw new RecordError('entry: must be JSON in UTF-8, got other bytes');
    let json: unknown;
    try {
      if (!isJson) return decodeEntry(data);
      json = parsePlain(data.toString('utf8'));
    } catch (error) {
      const seen = isJson || startsLikeText(data) ? encodingOf(data) : undefined;
      if (seen !== undefined) throw new RecordError(`entry: must be proto bytes or JSON in UTF-8, got ${seen}`);
      if (error instanceof RecordError) throw error;
      // The parser's own message quotes the record.
      throw new RecordError('entry: starts as JSON and is not JSON');
    }
    return entryFromJson(json, context);
  },
};
