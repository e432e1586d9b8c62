import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { identityOf, identityOfId, isIdentity } from '../../../shared/model/identity.ts';

const ORIGIN = {
  pipeline: 'orders',
  subscription: 'projects/p/subscriptions/orders',
  messageId: '1234567890',
  recordIndex: 0,
};

test('an identity never changes: what is stored under it is found again by every later version', () => {
  expect(identityOf(ORIGIN)).toBe('460474a7ca8b05398515417ea1ae2def');
  expect(identityOf({ ...ORIGIN, recordIndex: 1 })).toBe('ffa4b8d65dd710395b0e062021447c85');
  expect(identityOfId('orders', 'order-17')).toBe('b611945e90d90c4476e0d865f6c1c649');
});

test('an identity is the first 16 bytes of SHA-256 over fields with their lengths', () => {
  const field = (text: string): Buffer => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]);
  const bytes = Buffer.concat([field('id'), field('orders'), field('order-17')]);
  const expected = createHash('sha256').update(bytes).digest().subarray(0, 16).toString('hex');
  expect(identityOfId('orders', 'order-17')).toBe(expected);
});

test('two origins that differ anywhere have two identities', () => {
  const anyText = fc.string({ maxLength: 6, unit: fc.constantFrom('a', 'b', '0', '1', 'é') });
  const anyOrigin = fc.record({
    pipeline: anyText,
    subscription: anyText,
    messageId: anyText,
    recordIndex: fc.nat(11),
  });
  fc.assert(
    fc.property(anyOrigin, anyOrigin, (left, right) => {
      const isSame = JSON.stringify(left) === JSON.stringify(right);
      expect(identityOf(left) === identityOf(right)).toBe(isSame);
      expect(isIdentity(identityOf(left))).toBe(true);
    }),
    { seed: 41, numRuns: 500 },
  );
});

test("a publisher's id is never taken for a message's", () => {
  const { pipeline, subscription, messageId } = ORIGIN;
  expect(identityOfId(pipeline, subscription + messageId + '0')).not.toBe(identityOf(ORIGIN));
  expect(isIdentity(identityOf(ORIGIN).toUpperCase())).toBe(false);
});
