import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DueHeap, type Due } from '../../../../../../infra/local/servers/pubsub/delivery/due-heap.ts';

test('whatever is added and removed, what is left comes out when it is due, earliest first', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(50), { maxLength: 60 }),
      fc.array(fc.nat(59), { maxLength: 30 }),
      fc.nat(60),
      (times, removals, now) => {
        const items: Due[] = times.map((dueAt) => ({ dueAt, heapIndex: -1 }));
        const heap = new DueHeap<Due>();
        for (const item of items) heap.add(item);
        const gone = new Set(removals.flatMap((index) => items[index] ?? []));
        for (const item of gone) {
          heap.remove(item);
          heap.remove(item);
        }
        const left = items.filter((item) => !gone.has(item)).map(({ dueAt }) => dueAt);
        expect(heap.nextDueAt).toBe(left.length > 0 ? Math.min(...left) : undefined);
        const out: number[] = [];
        for (let item = heap.takeDue(now); item; item = heap.takeDue(now)) out.push(item.dueAt);
        expect(out).toEqual(left.filter((dueAt) => dueAt <= now).toSorted((a, b) => a - b));
        expect(heap.size).toBe(left.length - out.length);
      },
    ),
  );
});
