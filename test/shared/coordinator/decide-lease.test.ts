import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideLease, LEASE_MILLIS, releaseLease } from '../../../shared/coordinator/decide-lease.ts';
import type { Lease } from '../../../shared/model/lease.ts';

const NOW = 1_000_000_000;
const lease = (owner: string, expiresIn: number, epoch = 7): Lease => ({ owner, epoch, expiresAt: NOW + expiresIn });
const ours = (epoch: number): Lease => ({ owner: 'us', epoch, expiresAt: NOW + LEASE_MILLIS });

test.each([
  ['there is none yet', undefined, { kind: 'acquire', lease: ours(1) }],
  ['it is nobody’s', lease('', 10_000), { kind: 'acquire', lease: ours(8) }],
  ['it is ours', lease('us', 5_000), { kind: 'renew', lease: ours(7) }],
  ['it is ours and ran out', lease('us', -60_000), { kind: 'renew', lease: ours(7) }],
  ['it is another’s', lease('them', 1), { kind: 'held', by: 'them', expiresAt: NOW + 1 }],
  [
    'it ran out a moment ago, by our clock',
    lease('them', -1_000),
    { kind: 'held', by: 'them', expiresAt: NOW - 1_000 },
  ],
  ['it ran out', lease('them', -2_001), { kind: 'acquire', lease: ours(8) }],
  ['its clock is 30 s ahead', lease('them', 55_000), { kind: 'held', by: 'them', expiresAt: NOW + 55_000 }],
  ['its clock is an hour ahead', lease('them', 3_600_000), { kind: 'acquire', lease: ours(8) }],
])('where %s', (_case, current, decision) => {
  expect(decideLease(current, 'us', NOW)).toEqual(decision);
});

test('only its owner gives a lease back, and the epoch stays', () => {
  expect(releaseLease(lease('us', 5_000), 'us', NOW)).toEqual({ owner: '', epoch: 7, expiresAt: NOW });
  expect(releaseLease(lease('them', 5_000), 'us', NOW)).toBeUndefined();
  expect(releaseLease(undefined, 'us', NOW)).toBeUndefined();
});

test('the epoch grows with every new owner and with nothing else, whatever the clocks of the owners say', () => {
  const step = fc.record({
    owner: fc.constantFrom('a', 'b', 'c'),
    at: fc.integer({ min: 0, max: 400_000 }),
    gives: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let current: Lease | undefined;
      let lastOwner: string | undefined;
      for (const { owner, at, gives } of steps) {
        const before: Lease | undefined = current;
        if (gives) {
          current = releaseLease(current, owner, NOW + at) ?? current;
          if (current?.owner === '') lastOwner = undefined;
          continue;
        }
        const decision = decideLease(current, owner, NOW + at);
        if (decision.kind === 'held') continue;
        current = decision.lease;
        const isNewOwner = owner !== lastOwner;
        expect(current.epoch).toBe((before?.epoch ?? 0) + (isNewOwner ? 1 : 0));
        lastOwner = owner;
      }
    }),
  );
});
