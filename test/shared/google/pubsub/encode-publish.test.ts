import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  attributeFields,
  framedSize,
  messageSize,
  writeMessage,
} from '../../../../shared/emission/messages/wire-message.ts';
import type { WireMessage } from '../../../../shared/emission/ports.ts';
import { encodePublish, publishedCount, publishSize } from '../../../../shared/google/pubsub/encode-publish.ts';
import { PublishRequest, PublishResponse } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';

const TOPIC = 'projects/p/topics/t';

function byHand(messages: readonly WireMessage[]): Buffer {
  const topic = Buffer.from(TOPIC);
  const size = publishSize(topic, messages);
  // Larger than needed and dirty, as a reused buffer is.
  return encodePublish(Buffer.alloc(size + 64, 0xaa), size, topic, messages);
}

const message = (size: number) => ({ data: Buffer.alloc(size, size), attributes: { a: 'x' }, orderingKey: 'k' });

/** Messages in slabs as a lane writes them: behind each other, some with their data apart, some in a slab of their own. */
function inSlabs(specs: readonly { readonly size: number; readonly isApart: boolean; readonly isNew: boolean }[]) {
  const common = attributeFields({});
  const messages: WireMessage[] = [];
  let slab = Buffer.alloc(0);
  let at = 0;
  for (const { size, isApart, isNew } of specs) {
    const given = message(size);
    const bytes = messageSize(given, common);
    const written = framedSize(bytes) - (isApart ? size : 0);
    if (isNew || at + written > slab.length) {
      slab = Buffer.alloc(Math.max(written, 2000), 0xaa);
      at = 0;
    }
    const start = at;
    at = writeMessage(slab, at, given, common, bytes, !isApart);
    messages.push({ slab: { buffer: slab }, start, end: at, data: isApart ? given.data : undefined });
  }
  return messages;
}

test('a request is what the generated decoder reads, however its messages lie in memory', () => {
  const sizes = fc.oneof(fc.nat(300), fc.constantFrom(0, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152));
  const spec = fc.record({ size: sizes, isApart: fc.boolean(), isNew: fc.boolean() });
  const apart = ({ size, isApart }: { size: number; isApart: boolean }): boolean => isApart && size > 0;
  fc.assert(
    fc.property(fc.array(spec, { maxLength: 8 }), (specs) => {
      const messages = inSlabs(specs.map((each) => ({ ...each, isApart: apart(each) })));
      const { topic, messages: read } = PublishRequest.decode(byHand(messages));
      expect(topic).toBe(TOPIC);
      expect(
        read.map(({ data, orderingKey, attributes }) => [
          data.equals(Buffer.alloc(data.length, data.length)),
          data.length,
          orderingKey,
          attributes.a,
        ]),
      ).toEqual(specs.map(({ size }) => [true, size, 'k', 'x']));
    }),
    { numRuns: 300 },
  );
});

test('messages of which some are left out are what is sent', () => {
  const all = inSlabs([10, 20, 30, 40, 50].map((size) => ({ size, isApart: false, isNew: false })));
  const some = all.filter((_, index) => index % 2 === 0);
  expect(PublishRequest.decode(byHand(some)).messages.map(({ data }) => data.length)).toEqual([10, 30, 50]);
});

test('a size that is not that of the messages is refused before anything is sent', () => {
  const topic = Buffer.from(TOPIC);
  const messages = inSlabs([{ size: 10, isApart: false, isNew: false }]);
  const size = publishSize(topic, messages) + 1;
  expect(() => encodePublish(Buffer.alloc(size), size, topic, messages)).toThrow('the size of a request');
});

test('the ids of an answer are counted, whatever their number and length', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 200 }), { maxLength: 50 }), (messageIds) => {
      const answer = Buffer.from(PublishResponse.encode({ messageIds }).finish());
      expect(publishedCount(answer)).toBe(messageIds.length);
      // An answer that is cut tells of fewer, or of nothing.
      if (answer.length > 0) expect(publishedCount(answer.subarray(0, -1))).not.toBe(messageIds.length);
    }),
  );
});

test('an answer that is none is not counted', () => {
  expect(publishedCount(Buffer.from([0x12, 0x00]))).toBeUndefined();
  expect(publishedCount(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff]))).toBeUndefined();
});
