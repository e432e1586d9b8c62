import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Semaphore } from '../../../shared/base/semaphore.ts';

const never = new AbortController().signal;

test('permits go to waiters in the order they came', async () => {
  const semaphore = new Semaphore(1);
  const order: number[] = [];
  const release = await semaphore.acquire(never);
  const waiting = [1, 2, 3].map(async (number) => {
    const releaseOwn = await semaphore.acquire(never);
    order.push(number);
    releaseOwn();
  });
  expect(order).toEqual([]);
  release();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3]);
});

test('a waiter whose signal aborts leaves the queue with the reason, and the one behind it is served', async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire(never);
  const controller = new AbortController();
  const first = semaphore.acquire(controller.signal);
  const second = semaphore.acquire(never);
  const reason = new Error('no time');
  controller.abort(reason);
  await expect(first).rejects.toBe(reason);
  release();
  (await second)();
  (await semaphore.acquire(never))();
});

test('those without a signal wait in the same queue as those with one', async () => {
  const semaphore = new Semaphore(1);
  const order: string[] = [];
  const release = await semaphore.acquire();
  const waiting = [semaphore.acquire(), semaphore.acquire(never), semaphore.acquire()].map(async (turn, index) => {
    const releaseOwn = await turn;
    order.push(`waiter ${index}`);
    releaseOwn();
  });
  release();
  await Promise.all(waiting);
  expect(order).toEqual(['waiter 0', 'waiter 1', 'waiter 2']);
});

test('a signal that has aborted gets no permit, though one is free', async () => {
  const semaphore = new Semaphore(1);
  const reason = new Error('before');
  await expect(semaphore.acquire(AbortSignal.abort(reason))).rejects.toBe(reason);
  (await semaphore.acquire(never))();
});

test('a release that is called twice gives one permit back', async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire(never);
  release();
  release();
  const held = await semaphore.acquire(never);
  const controller = new AbortController();
  const second = semaphore.acquire(controller.signal);
  const reason = new Error('only one permit exists');
  controller.abort(reason);
  await expect(second).rejects.toBe(reason);
  held();
});

test('a signal that aborts when the permit has been given takes nothing away', async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire(never);
  const controller = new AbortController();
  const waiting = semaphore.acquire(controller.signal);
  release();
  controller.abort(new Error('too late'));
  (await waiting)();
  (await semaphore.acquire(never))();
});

test('under any schedule no more than the permits are held, all who wait are served or aborted, and all permits return', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.constantFrom('acquire', 'release', 'abort'), { maxLength: 40 }),
      async (permits, steps) => {
        const semaphore = new Semaphore(permits);
        const held: (() => void)[] = [];
        const queue: { readonly controller: AbortController; readonly settled: Promise<void> }[] = [];
        const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
        let aborted = 0;
        for (const step of steps) {
          if (step === 'acquire') {
            const controller = new AbortController();
            const settled = semaphore.acquire(controller.signal).then(
              (release) => void held.push(release),
              () => void (aborted += 1),
            );
            queue.push({ controller, settled });
          } else if (step === 'release') {
            held.shift()?.();
          } else {
            queue.at(-1)?.controller.abort(new Error('aborted'));
          }
          await turn();
          expect(held.length).toBeLessThanOrEqual(permits);
        }
        while (held.length > 0) {
          held.shift()?.();
          await turn();
        }
        await Promise.all(queue.map(({ settled }) => settled));
        expect(aborted).toBeLessThanOrEqual(queue.length);
        const all = await Promise.all(Array.from({ length: permits }, () => semaphore.acquire(never)));
        expect(all).toHaveLength(permits);
      },
    ),
    { seed: 2, numRuns: 60 },
  );
});

test('however many wait with one signal, it has one listener, and its abort frees all of them', async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire();
  const controller = new AbortController();
  const added = vi.spyOn(controller.signal, 'addEventListener');
  const waiting = Promise.allSettled(Array.from({ length: 20_000 }, () => semaphore.acquire(controller.signal)));
  expect(added).toHaveBeenCalledTimes(1);
  const reason = new Error('no time');
  controller.abort(reason);
  expect((await waiting).every((one) => one.status === 'rejected' && one.reason === reason)).toBe(true);
  release();
  (await semaphore.acquire(never))();
});
