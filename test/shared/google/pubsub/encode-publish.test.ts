import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attributeFields, wireMessage } from '../../../../shared/emission/messages/wire-message.ts';
import type { WireMessage } from '../../../../shared/emission/ports.ts';
import { encodePublish, publishedCount, publishSize } from '../../../../shared/google/pubsub/encode-publish.ts';
import { PublishRequest, PublishResponse } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { readWire } from '../../../support/fake-topic.ts';

const TOPIC = 'projects/p/topics/t';

function byHand(messages: readonly WireMessage[]): Buffer {
  const topic = Buffer.from(TOPIC);
  const size = publishSize(topic, messages);
  // Larger than needed and dirty, as a reused buffer is.
  return encodePublish(Buffer.alloc(size + 64, 0xaa), size, topic, messages);
}

const wire = (length: number): WireMessage =>
  wireMessage({ data: Buffer.alloc(length, 1), attributes: { a: 'x' }, orderingKey: 'k' }, attributeFields({}));

test('the hand-written request is the generated one, byte for byte', () => {
  const lengths = fc.oneof(fc.nat(300), fc.constantFrom(0, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152));
  fc.assert(
    fc.property(fc.array(lengths, { maxLength: 5 }), (sizes) => {
      const messages = sizes.map(wire);
      const generated = PublishRequest.encode({ topic: TOPIC, messages: messages.map(readWire) }).finish();
      expect(byHand(messages).equals(generated)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('a message that changed after its admission is refused before anything is sent', () => {
  expect(() => byHand([{ ...wire(10), bytes: 5 }])).toThrow('a message changed');
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
