import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextSlot, slotMillisFor } from '../../../shared/coordinator/slots.ts';

test.each([
  [1_000, 1_000],
  [10_000, 10_000],
  [60_000, 10_000],
])('an interval of %i ms is kept in slots of %i ms', (interval, slot) => {
  expect(slotMillisFor(interval)).toBe(slot);
});

test('the next slot is a boundary, ahead, and less than a slot away or one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 41 }), fc.integer({ min: 1, max: 10_000 }), (now, slot) => {
      const next = nextSlot(now, slot);
      expect(next % slot).toBe(0);
      expect(next - now).toBeGreaterThan(0);
      expect(next - now).toBeLessThanOrEqual(slot);
    }),
  );
});
