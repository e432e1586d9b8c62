import { RecordError } from '../base/errors.ts';
import type { ResolvedFraming } from '../config/resolved.ts';
import { type InputRecord, MAX_RECORDS, type PushedMessage } from '../model/record.ts';

/**
 * The records of one message. Pure. Parts are cut as bytes and never re-written, so that a number keeps its digits.
 * Throws a {@link RecordError} for a message that is not framed as the pipeline says, or that holds more than
 * {@link MAX_RECORDS}: then the message is the record.
 */
export function recordsOf(message: PushedMessage, framing: ResolvedFraming): InputRecord[] {
  switch (framing) {
    case 'single':
      return [{ message, index: 0, data: message.data }];
    case 'ndjson':
      return linesOf(message.data).map((data, index) => ({ message, index, data }));
    case 'json-array':
      return elementsOf(message.data).map((data, index) => ({ message, index, data }));
    default:
      return framing satisfies never;
  }
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Lines without their ends; blank ones are no records. */
function linesOf(data: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < data.length;) {
    const newline = data.indexOf(NEWLINE, start);
    const end = newline === -1 ? data.length : newline;
    const line = trimmed(data, start, end);
    if (line.length > 0) addPart(lines, line);
    start = end + 1;
  }
  return lines;
}

/** Decided at the first part too many: of the others nothing is built. */
function addPart(parts: Buffer[], part: Buffer): void {
  if (parts.length === MAX_RECORDS) {
    throw new RecordError(`message: must hold at most ${MAX_RECORDS} records, got more`);
  }
  parts.push(part);
}

const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * The elements of a JSON array, cut where the commas of the outermost level are. Only the frame is checked here: an
 * element that is not JSON is a bad record among good ones, and the serializer says so.
 */
function elementsOf(data: Buffer): Buffer[] {
  const array = trimmed(data, 0, data.length);
  if (array[0] !== OPEN_ARRAY || array.at(-1) !== CLOSE_ARRAY) throw notAnArray();
  const elements: Buffer[] = [];
  const end = array.length - 1;
  let depth = 0;
  let start = 1;
  for (let at = 1; at < end; at += 1) {
    const byte = array[at];
    if (byte === QUOTE) {
      at = endOfString(array, at);
      // The last bracket would be inside the string.
      if (at >= end) throw notAnArray();
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      depth -= 1;
      if (depth < 0) throw notAnArray();
    } else if (byte === COMMA && depth === 0) {
      addPart(elements, trimmed(array, start, at));
      start = at + 1;
    }
  }
  if (depth !== 0) throw notAnArray();
  const last = trimmed(array, start, end);
  // An empty array holds no records; otherwise what follows the last comma is one, even if it is not JSON.
  if (elements.length > 0 || last.length > 0) addPart(elements, last);
  return elements;
}

const notAnArray = (): RecordError =>
  new RecordError('message: must be one JSON array whose brackets and quotes match, because framing is json-array');

/** Index of the closing quote; the end of the data if there is none. */
function endOfString(data: Buffer, quote: number): number {
  for (let at = quote + 1; at < data.length; at += 1) {
    if (data[at] === BACKSLASH) at += 1;
    else if (data[at] === QUOTE) return at;
  }
  return data.length;
}

function trimmed(data: Buffer, start: number, end: number): Buffer {
  while (start < end && isSpace(data[start])) start += 1;
  while (end > start && isSpace(data[end - 1])) end -= 1;
  return data.subarray(start, end);
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === NEWLINE || byte === CARRIAGE_RETURN;
