import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  attributeFields,
  framedSize,
  messageSize,
  readMessage,
} from '../../../../shared/emission/messages/wire-message.ts';
import type { OutgoingMessage } from '../../../../shared/model/publishing.ts';
import { PublishRequest } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { wireMessage } from '../../../support/wire-message.ts';

const anyText = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', 'x'.repeat(48), 'x'.repeat(49), 'x'.repeat(127), 'x'.repeat(128), 'ö'.repeat(100)),
);
const anyAttributes = fc.dictionary(anyText, anyText, { maxKeys: 5, noNullPrototype: true }).map(withoutProto);
const anyMessage: fc.Arbitrary<OutgoingMessage> = fc.record(
  {
    data: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    attributes: anyAttributes,
    orderingKey: anyText,
  },
  { requiredKeys: ['data', 'attributes'] },
);

function withoutProto(attributes: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name !== '__proto__'));
}

const decode = (bytes: Uint8Array): OutgoingMessage[] =>
  PublishRequest.decode(bytes).messages.map(({ data, attributes, orderingKey }) => ({
    data,
    attributes: Object.fromEntries(Object.entries(attributes)),
    ...(orderingKey !== '' && { orderingKey }),
  }));

test('a message that is written down is what the generated decoder reads, and its size is told', () => {
  fc.assert(
    fc.property(anyMessage, fc.boolean(), (message, isApart) => {
      const wire = wireMessage(message, { isApart });
      const { slab, start, end, data = Buffer.alloc(0) } = wire;
      const framed = Buffer.concat([slab.buffer.subarray(start, end), data]);
      const { orderingKey, ...rest } = message;
      const expected = orderingKey ? message : rest;
      expect(decode(framed)).toEqual([expected]);
      expect(framed.length).toBe(framedSize(messageSize(message, attributeFields({}))));
      expect(readMessage(wire)).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

test('attributes of the unit are those of every message, and a message may replace them', () => {
  const common = attributeFields({ run: 'r', form: 'row' });
  const message = { data: Buffer.from('x'), attributes: { form: 'cell', own: '1' }, orderingKey: 'k' };
  const wire = wireMessage(message, { common });
  const expected = { ...message, attributes: { run: 'r', form: 'cell', own: '1' } };
  expect(decode(wire.slab.buffer.subarray(wire.start, wire.end))).toEqual([expected]);
  expect(readMessage(wire)).toEqual(expected);
});
