import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Queue } from '../../../../shared/staged/write/queue.ts';

test('a queue gives what it was given, in order, however pushes and shifts alternate', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (steps) => {
      const queue = new Queue<number>();
      const model: number[] = [];
      for (const [number, isPush] of steps.entries()) {
        if (isPush) {
          queue.push(number);
          model.push(number);
        } else {
          expect(queue.shift()).toBe(model.shift());
        }
      }
      for (const left of model) expect(queue.shift()).toBe(left);
      expect(queue.shift()).toBeUndefined();
    }),
  );
});
