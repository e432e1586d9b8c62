import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { attributeFields, messageSize } from '../../../../shared/emission/messages/wire-message.ts';
import { partsOf } from '../../../../shared/emission/messages/parts.ts';
import type { OutgoingMessage } from '../../../../shared/model/publishing.ts';

const NOTHING = attributeFields({});
const MAX = 2000;

function parts(message: OutgoingMessage): OutgoingMessage[] {
  return [...partsOf(message, MAX, messageSize(message, NOTHING) - message.data.length)];
}

const data = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 251));

test('the parts of a message make its data again, each fits, and all bear its attributes and key', () => {
  const message = { data, attributes: { 'row-key': 'r', long: 'x'.repeat(300) }, orderingKey: 'k' };
  const made = parts(message);
  expect(Buffer.concat(made.map((part) => part.data)).equals(data)).toBe(true);
  const digest = createHash('sha256').update(data).digest('hex');
  for (const [index, part] of made.entries()) {
    expect(messageSize(part, NOTHING)).toBeLessThanOrEqual(MAX);
    expect(part).toMatchObject({
      orderingKey: 'k',
      attributes: { ...message.attributes, part: String(index + 1), parts: String(made.length), 'part-of': digest },
    });
  }
});

test('the parts of a message without an ordering key share one of their own, so that they arrive in order', () => {
  const keys = new Set(parts({ data, attributes: {} }).map(({ orderingKey }) => orderingKey));
  expect([...keys]).toEqual([createHash('sha256').update(data).digest('hex')]);
});

test('data that is made in pieces makes the parts of the same data as a whole', () => {
  const message = { data, attributes: { 'row-key': 'r' } };
  const cut = [0, 0, 1, 1700, 1701, 4990, data.length];
  const pieces = cut.slice(1).map((end, at) => data.subarray(cut[at], end));
  const overheadBytes = messageSize(message, NOTHING) - data.length;
  expect([...partsOf({ ...message, data: { pieces: () => pieces } }, MAX, overheadBytes)]).toEqual(parts(message));
});

test('no part copies the data', () => {
  for (const part of parts({ data, attributes: {} })) expect(part.data.buffer).toBe(data.buffer);
});
