import { varintSize, writeVarint } from '../../base/varint.ts';
import type { OutgoingMessage } from '../../model/publishing.ts';
import type { WireMessage } from '../ports.ts';

/**
 * The encoding of a `PubsubMessage` as a field of its request: attributes, ordering key, data. Pure; a property test holds
 * it to the generated decoder.
 */

// Tags: (field number << 3) | wire type. All of these are one byte.
const REQUEST_MESSAGES = 0x12;
const DATA = 0x0a;
const ATTRIBUTES = 0x12;
const ORDERING_KEY = 0x2a;
const NAME = 0x0a;
const VALUE = 0x12;

/** The attributes as fields of a message. An attribute that occurs again later in the message replaces an earlier one. */
export function attributeFields(attributes: Readonly<Record<string, string>>): Buffer {
  let size = 0;
  for (const name in attributes) size += fieldSize(pairSize(name, attributes[name] ?? ''));
  const target = Buffer.allocUnsafe(size);
  writeAttributes(target, 0, attributes);
  return target;
}

/**
 * Bytes of the encoded `PubsubMessage`.
 *
 * @param common encoded attributes that the message has besides its own.
 */
export function messageSize({ data, attributes, orderingKey }: OutgoingMessage, common: Buffer): number {
  let size = common.length + (data.length === 0 ? 0 : fieldSize(data.length));
  for (const name in attributes) size += fieldSize(pairSize(name, attributes[name] ?? ''));
  return orderingKey === undefined ? size : size + textSize(orderingKey);
}

/** Bytes of a message of so many bytes with its frame. */
export const framedSize = (bytes: number): number => fieldSize(bytes);

/**
 * Writes a message of `bytes` bytes with its frame at `start` and returns where it ends; its data, which is last, only
 * where `withData` says so.
 */
export function writeMessage(
  target: Buffer,
  start: number,
  { data, attributes, orderingKey }: OutgoingMessage,
  common: Buffer,
  bytes: number,
  withData: boolean,
): number {
  target[start] = REQUEST_MESSAGES;
  let at = writeVarint(target, start + 1, bytes);
  target.set(common, at);
  at = writeAttributes(target, at + common.length, attributes);
  if (orderingKey !== undefined) at = writeText(target, at, ORDERING_KEY, orderingKey);
  if (data.length === 0) return at;
  target[at] = DATA;
  at = writeVarint(target, at + 1, data.length);
  if (!withData) return at;
  target.set(data, at);
  return at + data.length;
}

/** The message as it was given, with all of its attributes. */
export function readMessage({ slab, start, end, data: behind }: WireMessage): OutgoingMessage {
  const attributes: Record<string, string> = {};
  let data: Buffer = NOTHING;
  let orderingKey: string | undefined;
  const frame = slab.buffer.subarray(start, end);
  const [, at] = readVarint(frame, 1);
  for (const { tag, content } of fieldsIn(frame.subarray(at))) {
    if (tag === DATA) data = behind ?? Buffer.from(content);
    else if (tag === ORDERING_KEY) orderingKey = content.toString();
    else {
      let name = '';
      let value = '';
      for (const half of fieldsIn(content)) {
        if (half.tag === NAME) name = half.content.toString();
        else value = half.content.toString();
      }
      attributes[name] = value;
    }
  }
  return orderingKey === undefined ? { data, attributes } : { data, attributes, orderingKey };
}

const NOTHING = Buffer.alloc(0);

/** The length-delimited fields of what this file has written. */
function* fieldsIn(bytes: Buffer): Generator<{ readonly tag: number; readonly content: Buffer }> {
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at] ?? 0;
    const [length, from] = readVarint(bytes, at + 1);
    yield { tag, content: bytes.subarray(from, from + length) };
    at = from + length;
  }
}

/** The value that is written at `start`, and where it ends. */
function readVarint(bytes: Buffer, start: number): readonly [number, number] {
  let value = 0;
  let at = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [value, at];
  }
}

function writeAttributes(target: Buffer, start: number, attributes: Readonly<Record<string, string>>): number {
  let at = start;
  for (const name in attributes) {
    const value = attributes[name] ?? '';
    target[at] = ATTRIBUTES;
    at = writeVarint(target, at + 1, pairSize(name, value));
    at = writeText(target, at, NAME, name);
    at = writeText(target, at, VALUE, value);
  }
  return at;
}

/** Bytes that a field of bytes takes: its tag, length and content. */
const fieldSize = (length: number): number => 1 + varintSize(length) + length;

const pairSize = (name: string, value: string): number => textSize(name) + textSize(value);

/** A proto3 field of text: nothing when empty. */
const textSize = (text: string): number => (text === '' ? 0 : fieldSize(utf8Length(text)));

/** Up to here a loop beats the call into native code. */
const SHORT_TEXT = 48;

function utf8Length(text: string): number {
  const { length } = text;
  if (length > SHORT_TEXT) return Buffer.byteLength(text);
  for (let index = 0; index < length; index += 1) if (text.charCodeAt(index) >= 0x80) return Buffer.byteLength(text);
  return length;
}

function writeText(target: Buffer, start: number, tag: number, text: string): number {
  const { length } = text;
  if (length === 0) return start;
  const bytes = utf8Length(text);
  target[start] = tag;
  const at = writeVarint(target, start + 1, bytes);
  if (bytes === length && length <= SHORT_TEXT) {
    for (let index = 0; index < length; index += 1) target[at + index] = text.charCodeAt(index);
  } else {
    target.write(text, at);
  }
  return at + bytes;
}
