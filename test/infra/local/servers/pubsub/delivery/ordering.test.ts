import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeliveryOrder, type Orderable } from '../../../../../../infra/local/servers/pubsub/delivery/ordering.ts';

interface Item extends Orderable {
  readonly number: number;
}

test('of a key one item is out at a time, in order, however often items fail; without a key nothing waits', () => {
  const step = fc.record({ succeeds: fc.boolean(), overtake: fc.nat(5), finish: fc.nat(9) });
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('', 'a', 'b'), { maxLength: 40 }),
      fc.array(step, { minLength: 400, maxLength: 400 }),
      (keys, steps) => {
        const order = new DeliveryOrder<Item>();
        for (const [number, orderingKey] of keys.entries()) order.add({ number, orderingKey });
        const out: Item[] = [];
        const settled: Item[] = [];
        for (const { succeeds, overtake, finish } of steps) {
          const item = order.next(overtake);
          if (item) {
            if (item.orderingKey) expect(out.map(({ orderingKey }) => orderingKey)).not.toContain(item.orderingKey);
            out.push(item);
          }
          const [finished] = out.splice(finish % Math.max(1, out.length), 1);
          if (!finished) continue;
          if (succeeds) {
            settled.push(finished);
            order.settled(finished);
          } else order.again(finished);
        }
        for (const key of ['a', 'b']) {
          const numbers = settled.filter(({ orderingKey }) => orderingKey === key).map(({ number }) => number);
          expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
        }
      },
    ),
  );
});

test('settling an item behind the first of its key does not let the key move on', () => {
  const order = new DeliveryOrder<Item>();
  const [first, second, third] = [1, 2, 3].map((number) => ({ number, orderingKey: 'a' }));
  for (const item of [first!, second!, third!]) order.add(item);
  expect(order.next()).toBe(first);
  order.settled(second!);
  expect(order.next()).toBeUndefined();
  order.settled(first!);
  expect(order.next()).toBe(second);
  order.settled(second!);
  expect(order.next()).toBe(third);
});

test('an item without a key can be brought ahead of others, and none is lost by it', () => {
  const order = new DeliveryOrder<Item>();
  for (const number of [0, 1, 2, 3]) order.add({ number, orderingKey: '' });
  expect(order.next(2)?.number).toBe(2);
  expect([order.next(9), order.next(), order.next()].map((item) => item?.number).toSorted()).toEqual([0, 1, 3]);
});
