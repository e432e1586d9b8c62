import { describe, expect, test } from 'vitest';
import type { PushedMessage } from '../../../shared/model/record.ts';
import { framedRecords } from '../../../shared/records/framed-records.ts';
import { type IdentityRules, recordIdentity } from '../../../shared/records/identity.ts';
import { pushedMessage } from '../../support/pushed-message.ts';

const RULES: IdentityRules = {
  pipeline: 'orders',
  subscription: 'projects/p/subscriptions/orders',
  framing: 'ndjson',
};

const identities = (given: Partial<PushedMessage>, rules: IdentityRules = RULES): string[] => {
  const message = pushedMessage({ messageId: '1234567890', data: Buffer.from('a\nb'), ...given });
  return framedRecords(message, rules.framing).map((record) => recordIdentity(record, rules));
};

/** Rows hold markers under these names: another value would apply a record for the second time. */
const GOLDEN = ['460474a7ca8b05398515417ea1ae2def', 'ffa4b8d65dd710395b0e062021447c85'];
const GOLDEN_ID = 'b611945e90d90c4476e0d865f6c1c649';

describe('the identity of a record', () => {
  test('never changes from one version to the next', () => {
    expect(identities({})).toEqual(GOLDEN);
    const byId: IdentityRules = { ...RULES, framing: 'single', idAttribute: 'order' };
    expect(identities({ attributes: { order: 'order-17' } }, byId)).toEqual([GOLDEN_ID]);
    expect(identities({ attributes: { order: 'order-17' } }, { ...byId, framing: 'ndjson' })).toEqual([
      '03ef20bc1fe513f4398a726f36fe6c68',
      '5e6bbe44f15b849c8c9c225c468530e0',
    ]);
  });

  test.each(['', 'projects/p/subscriptions/another', 'projects/p/subscriptions/orders'])(
    'is by the configured subscription, whichever the push names: %j',
    (subscription) => {
      expect(identities({ subscription, deliveryAttempt: 5 })).toEqual(GOLDEN);
    },
  );

  test('is by the message where the publisher gave it no id', () => {
    const byId: IdentityRules = { ...RULES, idAttribute: 'order' };
    expect(identities({}, byId)).toEqual(GOLDEN);
    expect(identities({ attributes: { order: '' } }, byId)).toEqual(GOLDEN);
  });
});
