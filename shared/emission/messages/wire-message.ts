import { varintSize, writeVarint } from '../../base/varint.ts';
import type { OutgoingMessage } from '../../model/publishing.ts';
import type { WireMessage } from '../ports.ts';

/**
 * The encoding of a `PubsubMessage`, all but its data, which is copied once, into the request. Pure; a property test holds
 * it to the generated encoder.
 */

/** The most that a message or a request may take, its attributes and framing included (the service's limit is 10 MB). */
export const MAX_MESSAGE_BYTES = 9_500_000;

const MAX_ATTRIBUTES = 100;
const MAX_NAME_BYTES = 256;
/** Of an attribute's value, and of an ordering key. */
export const MAX_VALUE_BYTES = 1024;

// Tags: (field number << 3) | wire type. All of these are one byte.
const ATTRIBUTES = 0x12;
const ORDERING_KEY = 0x2a;
const NAME = 0x0a;
const VALUE = 0x12;

/** Bytes that a field of bytes takes: its tag, length and content. */
const fieldSize = (length: number): number => 1 + varintSize(length) + length;

/** Bytes of the encoded message. */
const messageSize = (dataLength: number, fieldsLength: number): number =>
  (dataLength === 0 ? 0 : fieldSize(dataLength)) + fieldsLength;

/** The attributes as fields of a message. An attribute that occurs again later in the message replaces an earlier one. */
export function attributeFields(attributes: Readonly<Record<string, string>>): Buffer {
  return encodeFields(attributes, undefined, NOTHING);
}

/** @param common encoded attributes that the message has besides its own. */
export function wireMessage({ data, attributes, orderingKey }: OutgoingMessage, common: Buffer): WireMessage {
  const fields = encodeFields(attributes, orderingKey, common);
  return { data, fields, bytes: messageSize(data.length, fields.length) };
}

/**
 * The rule of the service that the message breaks, as a sentence; undefined where there is none. Its size is not looked
 * at.
 *
 * @param common attributes that the message has besides its own.
 */
export function brokenRule(
  { data, attributes, orderingKey = '' }: OutgoingMessage,
  common: Readonly<Record<string, string>>,
): string | undefined {
  let count = 0;
  for (const name in attributes) {
    count += 1;
    if (name === '' || name.startsWith('goog')) return `the attribute name ${quoted(name)} is not allowed`;
    if (isLonger(name, MAX_NAME_BYTES)) return `the name of attribute ${quoted(name)} has more than 256 bytes`;
    if (isLonger(attributes[name] ?? '', MAX_VALUE_BYTES)) return `attribute ${quoted(name)} has more than 1,024 bytes`;
  }
  if (isLonger(orderingKey, MAX_VALUE_BYTES)) return 'the ordering key has more than 1,024 bytes';
  if (count + Object.keys(common).length > MAX_ATTRIBUTES && unionSize(attributes, common) > MAX_ATTRIBUTES) {
    return 'there are more than 100 attributes';
  }
  if (data.length === 0 && unionSize(attributes, common) === 0) return 'a message without data needs an attribute';
  return undefined;
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 64));

/** Nearly every text is so short that its bytes need not be counted. */
const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes / 3 && (text.length > bytes || Buffer.byteLength(text) > bytes);

const unionSize = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): number =>
  new Set([...Object.keys(one), ...Object.keys(other)]).size;

function encodeFields(
  attributes: Readonly<Record<string, string>>,
  orderingKey: string | undefined,
  common: Buffer,
): Buffer {
  let size = common.length;
  for (const name in attributes) size += fieldSize(pairSize(name, attributes[name] ?? ''));
  if (orderingKey !== undefined) size += textSize(orderingKey);
  if (size === common.length) return common;
  const target = Buffer.allocUnsafe(size);
  target.set(common, 0);
  let at = common.length;
  for (const name in attributes) {
    const value = attributes[name] ?? '';
    target[at] = ATTRIBUTES;
    at = writeVarint(target, at + 1, pairSize(name, value));
    at = writeText(target, at, NAME, name);
    at = writeText(target, at, VALUE, value);
  }
  if (orderingKey !== undefined) writeText(target, at, ORDERING_KEY, orderingKey);
  return target;
}

const NOTHING = Buffer.alloc(0);

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
