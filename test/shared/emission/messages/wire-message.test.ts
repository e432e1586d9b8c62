import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attributeFields, brokenRule, wireMessage } from '../../../../shared/emission/messages/wire-message.ts';
import type { OutgoingMessage } from '../../../../shared/model/publishing.ts';
import { PubsubMessage } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { readWire } from '../../../support/fake-topic.ts';

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

test('the hand-written message is the generated one, byte for byte, and its size is told', () => {
  fc.assert(
    fc.property(anyMessage, (message) => {
      const { fields, bytes } = wireMessage(message, attributeFields({}));
      const { data, attributes, orderingKey = '' } = message;
      const generated = (content: Buffer): Buffer =>
        Buffer.from(
          PubsubMessage.encode({
            data: content,
            attributes,
            orderingKey,
            messageId: '',
            publishTime: undefined,
          }).finish(),
        );
      expect(fields.equals(generated(Buffer.alloc(0)))).toBe(true);
      expect(bytes).toBe(generated(data).length);
    }),
    { numRuns: 2000 },
  );
});

test('attributes of the unit are those of every message, and a message may replace them', () => {
  const common = attributeFields({ run: 'r', form: 'row' });
  const message = { data: Buffer.from('x'), attributes: { form: 'cell', own: '1' }, orderingKey: 'k' };
  expect(readWire(wireMessage(message, common))).toMatchObject({
    attributes: { run: 'r', form: 'cell', own: '1' },
    orderingKey: 'k',
  });
});

const message = (given: Partial<OutgoingMessage>): OutgoingMessage => ({
  data: Buffer.from('x'),
  attributes: {},
  ...given,
});
const names = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, '']));

test.each<[string, OutgoingMessage, string | undefined]>([
  ['a value of 1,024 bytes', message({ attributes: { a: 'ö'.repeat(512) } }), undefined],
  [
    'a value of 1,025 bytes',
    message({ attributes: { a: `${'ö'.repeat(512)}x` } }),
    'attribute "a" has more than 1,024 bytes',
  ],
  ['a name of 257 bytes', message({ attributes: { ['n'.repeat(257)]: '' } }), 'more than 256 bytes'],
  ['a name that begins with goog', message({ attributes: { googly: '' } }), '"googly" is not allowed'],
  ['an empty name', message({ attributes: { '': 'x' } }), '"" is not allowed'],
  ['100 attributes with the one of the unit', message({ attributes: names(99) }), undefined],
  ['101 attributes with the one of the unit', message({ attributes: names(100) }), 'more than 100 attributes'],
  [
    '100 attributes, one of which replaces that of the unit',
    message({ attributes: { ...names(99), run: 'x' } }),
    undefined,
  ],
  ['an ordering key of 1,025 bytes', message({ orderingKey: 'k'.repeat(1025) }), 'the ordering key has more'],
])('the rules of the service: %s', (_, given, rule) => {
  const broken = brokenRule(given, { run: 'r' });
  if (rule === undefined) expect(broken).toBeUndefined();
  else expect(broken).toContain(rule);
});

test('a message without data needs an attribute, its own or the unit’s', () => {
  const empty = message({ data: Buffer.alloc(0) });
  expect(brokenRule(empty, {})).toBe('a message without data needs an attribute');
  expect(brokenRule(empty, { run: 'r' })).toBeUndefined();
});
