import { CommandError } from '../errors.ts';

/**
 * Cuts a stream of bytes into records, as bytes: nothing is parsed and written again, so every number keeps its digits.
 * Holds one record at a time and never more of it than a message may hold. Pure state machines.
 */

/** The most a Pub/Sub message may hold (https://cloud.google.com/pubsub/quotas#resource_limits). */
export const MAX_MESSAGE_BYTES = 10_000_000;

export const FORMATS = ['ndjson', 'json-array', 'lines', 'raw'] as const;
export type Format = (typeof FORMATS)[number];

export interface Piece {
  /** Line of the input that the record begins at, from 1. */
  readonly line: number;
  /** Undefined where the record is too large to be published. */
  readonly data: Buffer | undefined;
}

export interface Splitter {
  push(chunk: Buffer): readonly Piece[];
  /** The end of the input. */
  end(): readonly Piece[];
}

export function createSplitter(format: Format, source: string): Splitter {
  switch (format) {
    case 'ndjson':
    case 'lines':
      return lineSplitter();
    case 'json-array':
      return arraySplitter(source);
    case 'raw':
      return wholeSplitter();
    default:
      return format satisfies never;
  }
}

const NEWLINE = 0x0a;

/** Bytes of one record while they come; forgotten once they are too many. */
function createPart() {
  let chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes <= MAX_MESSAGE_BYTES) chunks.push(chunk);
      else chunks = [];
    },
    take(): Buffer | undefined {
      const data = bytes <= MAX_MESSAGE_BYTES ? Buffer.concat(chunks) : undefined;
      chunks = [];
      bytes = 0;
      return data;
    },
  };
}

/** Lines without their ends; blank ones are no records. */
function lineSplitter(): Splitter {
  const part = createPart();
  let line = 1;
  const take = (): Piece[] => {
    const data = part.take();
    const trimmed = data?.at(-1) === 0x0d ? data.subarray(0, -1) : data;
    return trimmed && isBlank(trimmed) ? [] : [{ line, data: trimmed }];
  };
  return {
    push(chunk) {
      const pieces: Piece[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        part.add(chunk.subarray(start, end));
        pieces.push(...take());
        line += 1;
        start = end + 1;
      }
      part.add(chunk.subarray(start));
      return pieces;
    },
    end: take,
  };
}

/** The whole input is one record, an empty one too. */
function wholeSplitter(): Splitter {
  const part = createPart();
  return {
    push(chunk) {
      part.add(chunk);
      return [];
    },
    end: () => [{ line: 1, data: part.take() }],
  };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The elements of the outermost array. Only the frame is checked; whether an element is JSON is for the reader. */
function arraySplitter(source: string): Splitter {
  const part = createPart();
  let line = 1;
  let elementLine = 1;
  /** 0 before the array, 1 between its brackets, more inside an element. */
  let depth = 0;
  let isClosed = false;
  let hasBegun = false;
  let isInString = false;
  let isEscaped = false;
  let elements = 0;

  const fail = (rule: string): CommandError =>
    new CommandError(`${source}, line ${line}: ${rule}; use --format ndjson for one record per line`);

  const take = (isLast: boolean): Piece[] => {
    const data = trimmed(part.take());
    const isEmpty = data?.length === 0;
    hasBegun = false;
    // An empty array holds no records.
    if (isEmpty && isLast && elements === 0) return [];
    if (isEmpty) throw fail('an element of the array is missing');
    elements += 1;
    return [{ line: elementLine, data }];
  };

  /** Takes one byte outside a string; says whether an element or the array ends before it. */
  const step = (byte: number): 'element' | 'array' | undefined => {
    if (depth === 0) {
      if (isClosed || byte !== OPEN_ARRAY)
        throw fail(isClosed ? 'text follows the JSON array' : 'must be a JSON array');
      depth = 1;
      return undefined;
    }
    if (byte === COMMA && depth === 1) return 'element';
    if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth += 1;
    if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > 0) return undefined;
    if (byte !== CLOSE_ARRAY) throw fail('brackets do not match');
    isClosed = true;
    return 'array';
  };

  return {
    push(chunk) {
      const pieces: Piece[] = [];
      let start = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        if (byte === NEWLINE) line += 1;
        if (isSpace(byte) && !isInString) continue;
        if (depth > 0 && !hasBegun) [hasBegun, elementLine] = [true, line];
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (byte === BACKSLASH) isEscaped = true;
          else if (byte === QUOTE) isInString = false;
          continue;
        }
        if (byte === QUOTE && depth > 0) {
          isInString = true;
          continue;
        }
        const isFrame = depth === 0;
        const ended = step(byte);
        if (ended !== undefined) {
          part.add(chunk.subarray(start, at));
          pieces.push(...take(ended === 'array'));
        }
        if (ended !== undefined || isFrame) start = at + 1;
      }
      if (depth > 0) part.add(chunk.subarray(start));
      return pieces;
    },
    end() {
      if (!isClosed) throw fail(depth === 0 ? 'must be a JSON array' : 'the JSON array is cut off');
      return [];
    },
  };
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === NEWLINE || byte === 0x0d;

const isBlank = (data: Buffer): boolean => data.every(isSpace);

function trimmed(data: Buffer | undefined): Buffer | undefined {
  if (!data) return undefined;
  let [start, end] = [0, data.length];
  while (start < end && isSpace(data[start])) start += 1;
  while (end > start && isSpace(data[end - 1])) end -= 1;
  return data.subarray(start, end);
}
