import { varintSize, writeVarint } from '../../base/varint.ts';
import type { WireMessage } from '../../emission/ports.ts';

/**
 * `PublishRequest` written straight into one buffer. A message's attributes and key come encoded and its data as it is, so
 * that each byte is copied once. A property test holds the result to the generated encoder, byte for byte.
 */

// Tags: (field number << 3) | wire type. All of these are one byte.
const REQUEST_TOPIC = 0x0a;
const REQUEST_MESSAGES = 0x12;
const MESSAGE_DATA = 0x0a;

/** Bytes of the whole request. */
export function publishSize(topic: Buffer, messages: readonly WireMessage[]): number {
  let size = 1 + varintSize(topic.length) + topic.length;
  for (const { bytes } of messages) size += 1 + varintSize(bytes) + bytes;
  return size;
}

/** Writes the request into the front of `target`, which must hold {@link publishSize} bytes, and returns the part written. */
export function encodePublish(target: Buffer, size: number, topic: Buffer, messages: readonly WireMessage[]): Buffer {
  let at = writeLength(target, 0, REQUEST_TOPIC, topic.length);
  target.set(topic, at);
  at += topic.length;
  for (const { data, fields, bytes } of messages) {
    at = writeLength(target, at, REQUEST_MESSAGES, bytes);
    const end = at + bytes;
    const { length } = data;
    if (length > 0) {
      at = writeLength(target, at, MESSAGE_DATA, length);
      target.set(data, at);
      at += length;
    }
    target.set(fields, at);
    at += fields.length;
    if (at !== end) throw new Error('a message changed between its admission and its request');
  }
  if (at !== size) throw new Error('the size of a request was not what it took');
  return target.subarray(0, size);
}

function writeLength(target: Buffer, start: number, tag: number, length: number): number {
  target[start] = tag;
  return writeVarint(target, start + 1, length);
}

const RESPONSE_MESSAGE_IDS = 0x0a;

/** How many messages an encoded `PublishResponse` tells the id of; undefined when it cannot be read. */
export function publishedCount(answer: Buffer): number | undefined {
  let count = 0;
  let at = 0;
  while (at < answer.length) {
    if (answer[at++] !== RESPONSE_MESSAGE_IDS) return undefined;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = answer[at++];
      if (byte === undefined || shift > 21) return undefined;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    at += length;
    count += 1;
  }
  return at === answer.length ? count : undefined;
}
