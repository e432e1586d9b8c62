import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Queue } from '../../../shared/base/queue.ts';

test('a queue gives what it was given, in order, however items are put, put first, taken and left out', () => {
  const step = fc.constantFrom('push' as const, 'pushFirst' as const, 'take' as const, 'keep' as const);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const queue = new Queue<number>();
      let model: number[] = [];
      for (const [number, kind] of steps.entries()) {
        if (kind === 'push') {
          queue.push(number);
          model.push(number);
        } else if (kind === 'pushFirst') {
          queue.pushFirst(number);
          model.unshift(number);
        } else if (kind === 'take') {
          expect(queue.take()).toBe(model.shift());
        } else {
          queue.keep((item) => item % 7 !== number % 7);
          model = model.filter((item) => item % 7 !== number % 7);
        }
        expect(queue.length).toBe(model.length);
        expect(queue.head).toBe(model[0]);
      }
      for (const left of model) expect(queue.take()).toBe(left);
      expect(queue.take()).toBeUndefined();
    }),
    { seed: 11, numRuns: 300 },
  );
});
