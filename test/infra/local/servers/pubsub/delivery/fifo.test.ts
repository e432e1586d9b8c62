import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fifo } from '../../../../../../infra/local/servers/pubsub/delivery/fifo.ts';

test('a queue gives out what an array would, over any mix of pushes, shifts and swaps', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ push: fc.nat(300) }) },
    { weight: 3, arbitrary: fc.record({ shift: fc.nat(300) }) },
    { weight: 1, arbitrary: fc.record({ swap: fc.nat(10) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const queue = new Fifo<number>();
      const model: number[] = [];
      let next = 0;
      for (const action of steps) {
        if ('push' in action) {
          for (let count = action.push; count > 0; count -= 1, next += 1) {
            queue.push(next);
            model.push(next);
          }
        } else if ('shift' in action) {
          for (let count = action.shift; count > 0; count -= 1) expect(queue.shift()).toBe(model.shift());
        } else {
          queue.bringToFront(action.swap);
          const other = model[action.swap];
          if (other !== undefined && model[0] !== undefined) [model[0], model[action.swap]] = [other, model[0]];
        }
        expect(queue.length).toBe(model.length);
      }
    }),
  );
});
