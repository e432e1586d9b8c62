import { varintSize, writeVarint } from '../../base/varint.ts';
import type { WireMessage } from '../../emission/ports.ts';

/**
 * `PublishRequest` written into one buffer. Its messages come written down; those that follow each other are one copy. Pure;
 * a property test holds the result to the generated decoder.
 */

// Tag: (field number << 3) | wire type.
const REQUEST_TOPIC = 0x0a;

/** Bytes of the whole request. */
export function publishSize(topic: Buffer, messages: readonly WireMessage[]): number {
  let size = 1 + varintSize(topic.length) + topic.length;
  for (const { start, end, data } of messages) size += end - start + (data === undefined ? 0 : data.length);
  return size;
}

/** Writes the request into the front of `target`, which must hold {@link publishSize} bytes, and returns the part written. */
export function encodePublish(target: Buffer, size: number, topic: Buffer, messages: readonly WireMessage[]): Buffer {
  target[0] = REQUEST_TOPIC;
  let at = writeVarint(target, 1, topic.length);
  target.set(topic, at);
  at += topic.length;
  /** What is to be copied next: messages of one slab without a gap. */
  let slab = topic;
  let from = 0;
  let to = 0;
  for (const message of messages) {
    const { buffer } = message.slab;
    if (buffer !== slab || message.start !== to) {
      at += slab.copy(target, at, from, to);
      slab = buffer;
      from = message.start;
    }
    to = message.end;
    const { data } = message;
    if (data === undefined) continue;
    at += slab.copy(target, at, from, to);
    from = to;
    target.set(data, at);
    at += data.length;
  }
  at += slab.copy(target, at, from, to);
  if (at !== size) throw new Error('the size of a request was not what it took');
  return target.subarray(0, size);
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
