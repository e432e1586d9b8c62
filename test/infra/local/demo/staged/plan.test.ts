import fc from 'fast-check';
import { expect, test } from 'vitest';
import { effectsOf, planMessages } from '../../../../../infra/local/demo/staged/plan.ts';
import { departure } from '../departure.ts';

test('every flight is in exactly one message, and of ten messages one is published twice under its id and one twice without', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 450 }), (count) => {
      const plan = planMessages(Array.from({ length: count }, (_, number) => departure(number)));
      expect(plan.flatMap(({ flights }) => flights.map(({ number }) => number))).toEqual([...new Array(count).keys()]);
      const kinds = plan.slice(0, 10).map((message) => `${message.copies} ${effectsOf(message)}`);
      expect(kinds).toEqual(
        ['1 1', '1 1', '1 1', '2 1', '1 1', '1 1', '1 1', '2 2', '1 1', '1 1'].slice(0, plan.length),
      );
      const ids = plan.flatMap(({ id }) => id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});
